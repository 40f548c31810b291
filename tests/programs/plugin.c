// answer: self first_plugin 60 %, second_plugin 40 %
// answer: path main > run > first_plugin 60 %, main > run > second_plugin 40 %
//
// Loads a plugin, runs it, unloads it, and loads another at the same address, over and over.
// The plugins lie beside the program; exits with 3 unless both were loaded at one address.
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "burn.h"

static uintptr_t run(const char *directory, const char *name, uint64_t units) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    void (*work)(uint64_t) = *(void (**)(uint64_t))dlsym(library, "entry");
    work(units);
    dlclose(library);
    return (uintptr_t)work;
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    char self[PATH_MAX] = {0};
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
    const char *directory = dirname(self);
    while (process_cpu_ns() < budget) {
        uint64_t units = 40 * round_units();
        uintptr_t first = run(directory, "libfirst.so", 6 * units);
        uintptr_t second = run(directory, "libsecond.so", 4 * units);
        if (first != second) return 3;
    }
    return 0;
}
