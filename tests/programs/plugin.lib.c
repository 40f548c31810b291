// The plugins that plugin.c loads: one source, built twice with another name for its function (-DWORK=name), so
// that both are laid out alike and the second lies exactly where the first was.
#include "burn.h"

APART void WORK(uint64_t units) { BURN(units); }

void (*const entry)(uint64_t) = WORK;
