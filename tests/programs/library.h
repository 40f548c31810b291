// The functions of the shared library, and what it calls back.
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdint.h>

// Calls `work` with the units, from within the library.
void through_library(void (*work)(uint64_t), uint64_t units);
// Works in the library itself.
void inside_library(uint64_t units);

#endif
