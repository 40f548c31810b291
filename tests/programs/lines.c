// answer: self work 97-100 %
// answer: line 14 75 %, 16 25 %
//
// Two lines of one function, 3 : 1. Each loop is whole on its line, head and body.
#include "burn.h"

static volatile uint64_t sink = 1;

APART void work(uint64_t units) {
    uint64_t x = sink;
    uint64_t i;
    // clang-format off

    for (i = 0; i < units * 192; i++) x = x * 6364136223846793005u + 1442695040888963407u;

    for (i = 0; i < units * 64; i++) x = x * 6364136223846793005u + 1442695040888963407u;

    // clang-format on
    sink = x;
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) work(round_units());
    return 0;
}
