#include "topology/mesh/exchange.h"

#include <algorithm>
#include <tuple>

namespace podsim::topology {
namespace {

/// True if the exchange preserves the lattice: displacements that equal zero still do.
bool leaves(const Lattice& slice, const AxisExchange& exchange) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const std::size_t to = exchange.to[axis];
        if (slice.lengths[axis] != slice.lengths[to] || slice.wrapped[axis] != slice.wrapped[to]) {
            return false;
        }
        if (!slice.wrapped[axis]) {
            continue;
        }
        const Point once =
            along(static_cast<int>(axis), slice.lengths[axis]) - slice.wrap_shift[axis];
        if (slice.canonical(exchange.of(once)) != Point{}) {
            return false;
        }
    }
    return true;
}

}  // namespace

Point AxisExchange::of(const Point& point) const {
    Point exchanged{};
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        exchanged[to[axis]] = point[axis];
    }
    return exchanged;
}

AxisExchange AxisExchange::inverse() const {
    AxisExchange back;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        back.to[to[axis]] = axis;
    }
    return back;
}

std::vector<AxisExchange> exchanges_of(const Lattice& slice, const Point& box) {
    std::vector<AxisExchange> exchanges;
    AxisExchange exchange;
    while (std::ranges::next_permutation(exchange.to).found) {
        if (leaves(slice, exchange) && exchange.of(box) == box) {
            exchanges.push_back(exchange);
        }
    }
    return exchanges;
}

std::strong_ordering operator<=>(const AxisContent& one, const AxisContent& other) {
    if (one.parts.size() != other.parts.size()) {
        return other.parts.size() <=> one.parts.size();
    }
    return std::tie(one.parts, one.positions) <=> std::tie(other.parts, other.positions);
}

}  // namespace podsim::topology
