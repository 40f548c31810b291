// The shared library that library.c is linked with.
#include "library.h"

#include "burn.h"

APART void inside_library(uint64_t units) { BURN(units); }

APART void through_library(void (*work)(uint64_t), uint64_t units) {
    work(units);
    KEEP_FRAME();
}
