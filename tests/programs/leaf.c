// answer: total many 100 %
// answer: path main > many > tiny 60-100 %
//
// A function so small that most samples fall into its prologue and epilogue, where the frame is half built.
#include "burn.h"

APART uint64_t tiny(uint64_t a, uint64_t b) {
    // Registers that the callee must save: their pushes and pops are most of the function.
    __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15");
    return a + b;
}

APART uint64_t many(uint64_t times) {
    uint64_t x = 0;
    for (uint64_t i = 0; i < times; i++) x = tiny(x, i);
    return x;
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) burn_sink += many(200 * round_units());
    return 0;
}
