// answer: total ask_time 97-100 %
// answer: path main > ask_time 97-100 %
// answer: module [vdso] 60-100 %
//
// Asks for the time, which is answered by code that the kernel maps into every process.
#include "burn.h"

APART void ask_time(uint64_t times) {
    struct timespec now;
    for (uint64_t i = 0; i < times; i++) clock_gettime(CLOCK_MONOTONIC, &now);
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) ask_time(50 * round_units());
    return 0;
}
