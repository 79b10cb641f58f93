#include "workloads/plan/nearest_size.h"

#include <fmt/format.h>

namespace podsim::workloads {
namespace {

std::string nearest_of(std::int64_t below, std::int64_t above) {
    if (below == 0 || above == 0) {
        return fmt::format("the nearest that works is {}", below + above);
    }
    return fmt::format("the nearest that work are {} and {}", below, above);
}

}  // namespace

std::string nearest_multiples(std::int64_t value, std::int64_t unit) {
    const std::int64_t below = value / unit * unit;
    return nearest_of(below, below + unit);
}

std::string nearest_divisors(std::int64_t value, std::int64_t number) {
    std::int64_t below = 1;
    std::int64_t above = 0;
    for (std::int64_t d = 1; d <= number && above == 0; ++d) {
        if (number % d == 0) {
            (d <= value ? below : above) = d;
        }
    }
    return nearest_of(below, above);
}

}  // namespace podsim::workloads
