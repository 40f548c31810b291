// answer: total descend 100 %
// answer: self spin 97-100 %
// answer: depth main..spin 102
//
// A function that calls itself a hundred times before it works.
#include "burn.h"

APART void spin(uint64_t units) { BURN(units); }

APART void descend(int left, uint64_t units) {
    if (left > 1)
        descend(left - 1, units);
    else
        spin(units);
    KEEP_FRAME();
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) descend(100, 8 * round_units());
    return 0;
}
