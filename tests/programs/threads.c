// answer: threads alpha 60 %, beta 30 %, gamma 10 %
// answer: self work 97-100 %
//
// Three threads with names, each with its part of the CPU time.
#define _GNU_SOURCE
#include <pthread.h>

#include "burn.h"

struct part {
    const char *name;
    uint64_t cpu_ns;
};

APART void work(void) { BURN(1000); }

static void *run(void *argument) {
    struct part *part = argument;
    pthread_setname_np(pthread_self(), part->name);
    while (thread_cpu_ns() < part->cpu_ns) work();
    return 0;
}

int main(int argc, char **argv) {
    uint64_t tenth = budget_ns(argc, argv) / 10;
    struct part parts[] = {{"alpha", 6 * tenth}, {"beta", 3 * tenth}, {"gamma", tenth}};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], 0, run, &parts[i])) return 2;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
