// answer: self spin 97-100 %
// answer: depth main..spin 2002
//
// Deeper than any copy of the stack: 2,000 frames of 160 bytes and more. The stack must say that it was cut, and where.
#include "burn.h"

APART void spin(uint64_t units) { BURN(units); }

APART void descend(int left, uint64_t units) {
    volatile char ballast[128];
    ballast[0] = (char)left;
    if (left > 1)
        descend(left - 1, units);
    else
        spin(units);
    ballast[1] = ballast[0];
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) descend(2000, 1000 * round_units());
    return 0;
}
