// answer: total on_tick 50 %, busy 100 %
// answer: self spin 50 %, busy 50 %
// answer: path main > busy 100 %, on_tick > spin 50 %
//
// A timer interrupts `busy` wherever it is, every 2 ms of CPU time; the handler does again what was done since the
// last time. Its stacks go through the signal frame into the interrupted function, which may be anywhere.
#include <signal.h>
#include <stdatomic.h>

#include "burn.h"

static _Atomic uint64_t done;
static uint64_t repeated;

APART void spin(uint64_t units) { BURN(units); }

APART void on_tick(int signal) {
    (void)signal;
    uint64_t seen = atomic_load_explicit(&done, memory_order_relaxed);
    spin(seen - repeated);
    repeated = seen;
}

APART void busy(uint64_t budget) {
    do {
        for (int i = 0; i < 100; i++) {
            BURN(16);
            atomic_store_explicit(&done, done + 16, memory_order_relaxed);
        }
    } while (process_cpu_ns() < budget);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigaction(SIGRTMIN, &action, 0);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec every = {{0, 2000000}, {0, 2000000}};
    timer_t timer;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer)) return 2;
    if (timer_settime(timer, 0, &every, 0)) return 2;
    busy(budget_ns(argc, argv));
    timer_delete(timer);
    return 0;
}
