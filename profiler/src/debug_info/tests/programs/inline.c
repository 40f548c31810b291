// Known answer: at -O2 `outer` holds `middle` (called on the line marked B), which holds `leaf` (line marked A).
// `twin_one` and `twin_two` have equal code; `renamed` is a weak alias of `original`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile int sink;

static inline __attribute__((always_inline)) int leaf(int x) {
    sink = x * 3; // LEAF
    return sink ^ x;
}

static inline __attribute__((always_inline)) int middle(int x) {
    int twice = x << 1;
    return leaf(twice) + 1; // A
}

__attribute__((noinline)) int outer(int x) {
    int total = 0;
    for (int i = 0; i < x; i++) {
        total += middle(i); // B
    }
    return total;
}

__attribute__((noinline)) static int hidden(int x) {
    if (x > 100) {
        fprintf(stderr, "too large\n");
        abort();
    }
    return outer(x) + leaf(x);
}

__attribute__((noinline)) int original(int x) { return sink + x; }
int renamed(int x) __attribute__((weak, alias("original")));

int main(int argc, char **argv) {
    char text[64];
    memset(text, argc, sizeof text);
    sink = text[argc & 63];
    return hidden(argc) + original(argc) + (int)strlen(argv[0]);
}
