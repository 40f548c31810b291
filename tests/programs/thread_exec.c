// answer: processes 1
// answer: self before_exec 50 %, after_exec 50 %
//
// A thread that is not the leader becomes this program anew: it takes over the leader's number, and all other
// threads, the leader too, are gone.
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

static const char *budget_text = "2000";
static uint64_t half_ns;

APART void before_exec(void) { BURN(1000); }
APART void after_exec(void) { BURN(1000); }

static void spend(void (*work)(void), uint64_t ns) {
    uint64_t end = thread_cpu_ns() + ns;
    while (thread_cpu_ns() < end) work();
}

static void *second(void *unused) {
    (void)unused;
    spend(before_exec, half_ns);
    execl("/proc/self/exe", "thread_exec", budget_text, "after", (char *)0);
    _exit(2);
}

int main(int argc, char **argv) {
    if (argc > 1) budget_text = argv[1];
    half_ns = budget_ns(argc, argv) / 2;
    if (argc > 2 && !strcmp(argv[2], "after")) {
        spend(after_exec, half_ns);
        return 0;
    }
    pthread_t thread;
    if (pthread_create(&thread, 0, second, 0)) return 2;
    pthread_join(thread, 0);
    return 2;
}
