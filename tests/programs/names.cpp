// answer: self geometry::Circle::operator() 50 %, geometry::Box<int>::grow 30 %, geometry::(anonymous namespace)::hidden 20 %
//
// Names that C++ mangles: an operator, a member of a template, a function of an unnamed namespace.
#include "burn.h"

namespace geometry {

struct Circle {
    APART void operator()(uint64_t units) const { BURN(units); }
};

template <typename T>
struct Box {
    APART T grow(T times, uint64_t units) {
        BURN(units);
        return times;
    }
};

namespace {
APART void hidden(uint64_t units) { BURN(units); }
}  // namespace

APART void all(uint64_t units) {
    Circle circle;
    Box<int> box;
    circle(5 * units);
    box.grow(1, 3 * units);
    hidden(2 * units);
}

}  // namespace geometry

int main(int argc, char **argv) {
    uint64_t budget = budget_ns(argc, argv);
    while (process_cpu_ns() < budget) geometry::all(round_units());
    return 0;
}
