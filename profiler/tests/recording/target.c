// What the collector's tests record. The first argument says what to do, the second for how many hundredths of a
// second of processor time:
//   busy     the only thread computes
//   threads  three more threads compute, too
//   fork     a child computes as well, and is waited for
//   crowd    the only busy thread computes among a hundred that sleep
//   births   threads are started one after another, each computing for a hundredth of a second
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void compute(long hundredths) {
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        for (int i = 0; i < 10000; i++) sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 100 + (now.tv_nsec - start.tv_nsec) / 10000000 < hundredths);
}

static void *thread_main(void *hundredths) {
    compute((long)hundredths);
    return NULL;
}

static void *sleeper(void *unused) {
    pause();
    return unused;
}

static void crowd(void) {
    pthread_t thread;
    for (int i = 0; i < 100; i++)
        if (pthread_create(&thread, NULL, sleeper, NULL)) abort();
}

static pthread_t start(long hundredths) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_main, (void *)hundredths)) abort();
    return thread;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long hundredths = atol(argv[2]);
    if (!strcmp(argv[1], "threads")) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) threads[i] = start(hundredths);
        compute(hundredths);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    } else if (!strcmp(argv[1], "crowd")) {
        crowd();
        compute(hundredths);
    } else if (!strcmp(argv[1], "births")) {
        for (long i = 0; i < hundredths; i++) pthread_join(start(1), NULL);
    } else {
        pid_t child = strcmp(argv[1], "fork") ? -1 : fork();
        compute(hundredths);
        if (child == 0) _exit(0);
        if (child > 0) waitpid(child, NULL, 0);
    }
    return 0;
}
