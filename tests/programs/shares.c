// answer: total hot 70 %, warm 20 %, cold 10 %
// answer: self spin 97-100 %
// answer: path main > hot > spin 70 %, main > warm > spin 20 %, main > cold > spin 10 %
//
// Three callers of one kernel, 7 : 2 : 1.
#include "burn.h"

APART void spin(uint64_t units) { BURN(units); }

APART void hot(uint64_t units) {
    spin(7 * units);
    KEEP_FRAME();
}

APART void warm(uint64_t units) {
    spin(2 * units);
    KEEP_FRAME();
}

APART void cold(uint64_t units) {
    spin(1 * units);
    KEEP_FRAME();
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) {
        uint64_t units = round_units();
        hot(units);
        warm(units);
        cold(units);
    }
    return 0;
}
