// Known answer: `geometry::Circle::area` holds `geometry::(anonymous namespace)::square` inlined on the line marked A.
#include <string>
#include <vector>

namespace geometry {
namespace {
inline __attribute__((always_inline)) double square(double x) { return x * x; }

__attribute__((noinline)) double scaled(double x, int by) { return square(x) * by; }
} // namespace

struct Shape {
    virtual ~Shape() {}
    virtual double area() const = 0;
};

struct Circle : Shape {
    explicit Circle(double r) : radius(r) {}
    double area() const override;
    double radius;
};

double Circle::area() const {
    return 3.14 * square(radius); // A
}

template <typename T> __attribute__((noinline)) T sum(const std::vector<T> &values) {
    T total{};
    for (const T &value : values) total += value;
    return total;
}
} // namespace geometry

static __attribute__((noinline)) int local_only(int x) {
    auto twice = [](int y) { return y % 7 * 2; };
    return twice(x) + x;
}

int main(int argc, char **argv) {
    std::vector<double> values;
    for (int i = 0; i < argc + 10; i++) {
        geometry::Circle circle(i);
        values.push_back(circle.area() + geometry::scaled(i, argc));
    }
    std::string text(argv[0]);
    int one = argc, other = argc + 1;
    std::swap(one, other);
    return one + static_cast<int>(geometry::sum(values)) + local_only(argc) + static_cast<int>(text.size());
}
