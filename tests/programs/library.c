// answer: self called_back 60 %, inside_library 40 %
// answer: path main > through_library > called_back 60 %, main > inside_library 40 %
//
// Stacks that cross from the program into a shared library and back.
#include "library.h"

#include "burn.h"

APART void called_back(uint64_t units) { BURN(units); }

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) {
        uint64_t units = round_units();
        through_library(called_back, 6 * units);
        inside_library(4 * units);
    }
    return 0;
}
