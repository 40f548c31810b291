// answer: threads left 50 %, right 50 %
// answer: total level<1> 97-100 %, spin 97-100 %
// answer: depth level<18>..spin 19
//
// The target of the benches: two threads whose stacks are 22 frames deep from the thread's start to the work
// (two of libc, then run, 18 levels and the work). Prints how much work it did and the CPU time of that, for its slowdown.
#include <pthread.h>
#include <stdio.h>

#include "burn.h"

static const uint64_t units_per_round = 40000;

struct side {
    const char *name;
    uint64_t budget_ns;
    uint64_t rounds;
    uint64_t cpu_ns;
};

APART void spin() { BURN(units_per_round); }

template <int Level>
APART void level() {
    if constexpr (Level > 1)
        level<Level - 1>();
    else
        spin();
    KEEP_FRAME();
}

static void *run(void *argument) {
    side *own = static_cast<side *>(argument);
    pthread_setname_np(pthread_self(), own->name);
    for (; own->cpu_ns < own->budget_ns; own->rounds++) {
        level<18>();
        own->cpu_ns = thread_cpu_ns();
    }
    return nullptr;
}

int main(int argc, char **argv) {
    uint64_t half = budget_ns(argc, argv) / 2;
    side sides[] = {{"left", half, 0, 0}, {"right", half, 0, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], nullptr, run, &sides[i])) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], nullptr);
    printf("target rounds %llu cpu_ns %llu\n", (unsigned long long)(sides[0].rounds + sides[1].rounds),
           (unsigned long long)process_cpu_ns());
    return 0;
}
