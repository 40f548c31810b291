// answer: total shapes::area<3> 75 %, shapes::area<1> 25 %
// answer: path main > run > shapes::area<3> > shapes::side 75 %, main > run > shapes::area<1> > shapes::side 25 %
// answer: line 15 97-100 %
//
// Templates and a helper, all inlined into one function: only debug information knows them.
#include "burn.h"

namespace shapes {

static volatile uint64_t sink = 1;

__attribute__((always_inline)) inline uint64_t side(uint64_t x, uint64_t steps) {
    // clang-format off

    for (uint64_t i = 0; i < steps; i++) x = x * 6364136223846793005u + 1442695040888963407u;

    // clang-format on
    return x;
}

template <int Sides>
__attribute__((always_inline)) inline void area(uint64_t units) {
    sink = side(sink, units * 64 * Sides);
}

}  // namespace shapes

APART void run(uint64_t units) {
    shapes::area<3>(units);
    shapes::area<1>(units);
}

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) run(round_units());
    return 0;
}
