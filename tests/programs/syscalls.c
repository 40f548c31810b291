// answer: total ask_parent 95-100 %
//
// Little but system calls, of which user code is the smaller part.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

APART void ask_parent(uint64_t times) {
    for (uint64_t i = 0; i < times; i++) syscall(SYS_getppid);
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) ask_parent(20 * round_units());
    return 0;
}
