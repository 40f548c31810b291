// What the C and C++ programs share: a kernel whose cost is its count, and a budget of CPU time.
//
// Shares are exact because all work is multiples of one dependent chain of multiplications, which no alignment
// and no neighbor makes faster in one function than in another. Rounds differ in length, so that no round can
// stay in step with a sampler; programs end by consumed CPU time, so that a slow machine gives as many samples.
#ifndef BURN_H
#define BURN_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

// Kept out of line, unmerged and uncloned, so that the function is there to be found under its own name.
#define APART __attribute__((noinline, noclone, no_icf))
// After a call that must stay a call: without it the optimizer makes it a jump and the caller has no frame.
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

static volatile uint64_t burn_sink = 1;

// One unit is 64 steps of a chain in which every step needs the one before. A macro, so that the work is the
// function's own and no inlined helper stands between.
#define BURN(units)                                                                                \
    do {                                                                                           \
        uint64_t x_ = burn_sink;                                                                   \
        uint64_t steps_ = (units) * 64;                                                            \
        for (uint64_t i_ = 0; i_ < steps_; i_++) x_ = x_ * 6364136223846793005u + 1442695040888963407u; \
        burn_sink = x_;                                                                            \
    } while (0)

static inline uint64_t process_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t thread_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// The CPU time to consume: the argument in milliseconds, else two seconds.
static inline uint64_t budget_ns(int argc, char **argv) {
    return (argc > 1 ? strtoull(argv[1], 0, 10) : 2000) * 1000000u;
}

// Between half and one and a half times 1,000 units.
static inline uint64_t round_units(void) {
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return 500 + (state >> 16) % 1000;
}

#endif
