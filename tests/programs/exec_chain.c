// answer: processes 2
// answer: self stage_one 20 %, stage_two 30 %, stage_three 50 %
//
// Works, then forks a child that becomes this program anew, works, and becomes it once more.
// Each stage ends by its own CPU time: 2, 3 and 5 tenths of the budget.
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

APART void stage_one(void) { BURN(1000); }
APART void stage_two(void) { BURN(1000); }
APART void stage_three(void) { BURN(1000); }

// Repeats the work for a CPU time counted from now: exec does not reset the clock.
static void spend(void (*work)(void), uint64_t ns) {
    uint64_t end = process_cpu_ns() + ns;
    while (process_cpu_ns() < end) work();
}

static int become(const char *budget, const char *stage) {
    execl("/proc/self/exe", "exec_chain", budget, stage, (char *)0);
    return 2;
}

int main(int argc, char **argv) {
    const char *budget = argc > 1 ? argv[1] : "2000";
    const char *stage = argc > 2 ? argv[2] : "one";
    uint64_t tenth = budget_ns(argc, argv) / 10;
    if (!strcmp(stage, "two")) {
        spend(stage_two, 3 * tenth);
        return become(budget, "three");
    }
    if (!strcmp(stage, "three")) {
        spend(stage_three, 5 * tenth);
        return 0;
    }
    spend(stage_one, 2 * tenth);
    pid_t pid = fork();
    if (pid == 0) _exit(become(budget, "two"));
    int status;
    if (waitpid(pid, &status, 0) != pid) return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
