// answer: processes 2
// answer: self in_parent 30 %, in_child 70 %
// answer: path main > in_parent 30 %, main > child > in_child 70 %
//
// Forks without exec: the child keeps its parent's mappings, and neither tells the kernel of any.
// Parent and child work in turn, rounds of 3 and 7, and tell each other through pipes.
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

APART void in_parent(uint64_t units) { BURN(units); }
APART void in_child(uint64_t units) { BURN(units); }

static int child(int from_parent, int to_parent) {
    uint64_t units;
    while (read(from_parent, &units, sizeof units) == sizeof units) {
        in_child(7 * units);
        if (write(to_parent, &units, sizeof units) != sizeof units) return 2;
    }
    return 0;
}

int main(int argc, char **argv) {
    // The parent does three tenths of the work.
    uint64_t budget = budget_ns(argc, argv) * 3 / 10;
    int down[2], up[2];
    if (pipe(down) || pipe(up)) return 2;
    pid_t pid = fork();
    if (pid == 0) {
        close(down[1]);
        _exit(child(down[0], up[1]));
    }
    while (process_cpu_ns() < budget) {
        uint64_t units = 20 * round_units();
        in_parent(3 * units);
        if (write(down[1], &units, sizeof units) != sizeof units) return 2;
        if (read(up[0], &units, sizeof units) != sizeof units) return 2;
    }
    close(down[1]);
    int status;
    if (waitpid(pid, &status, 0) != pid) return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
