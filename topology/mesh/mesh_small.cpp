// Small slices, whose chips JAX orders itself.
#include <algorithm>
#include <map>
#include <set>

#include "topology/chips/chip.h"
#include "topology/mesh/mesh.h"

namespace podsim::topology {
namespace {

/// Returns the numbers of the chips, counted along x, then y, then z, in JAX's order.
std::vector<int> numbers(std::string_view chip, const Point& lengths) {
    for (const ChipSpec& each : chip_catalogue()) {
        const auto found = std::ranges::find(each.jax_order, lengths, &JaxOrder::shape);
        if (each.name == chip && found != each.jax_order.end()) {
            return found->numbers;
        }
    }
    return {};
}

/// Returns the number of an axis' members within a slice.
int size_within(const LogicalAxis& axis) {
    int size = 1;
    for (const AxisFactor& factor : axis.factors) {
        size *= factor.axis == kSliceAxis ? 1 : factor.length;
    }
    return size;
}

}  // namespace

std::vector<Point> jax_order(std::string_view chip, const Lattice& slice) {
    std::vector<Point> order;
    for (const int number : numbers(chip, slice.lengths)) {
        const int rows = number / slice.lengths[0];
        order.push_back(
            {number % slice.lengths[0], rows % slice.lengths[1], rows / slice.lengths[1]});
    }
    return order;
}

std::vector<std::string> unlike_jax(const DeviceMesh& mesh, const Lattice& slice,
                                    std::string_view chip) {
    const std::vector<Point> order = jax_order(chip, slice);
    std::vector<std::string> unlike;
    int stride = static_cast<int>(order.size());  // distance of members in JAX's order
    for (const LogicalAxis& axis : mesh.axes()) {
        const int size = size_within(axis);
        stride /= size;
        std::vector<std::string> others;
        for (const LogicalAxis& other : mesh.axes()) {
            if (other.name != axis.name) {
                others.push_back(other.name);
            }
        }
        // [group here]: its members' groups in JAX.
        std::map<int, std::set<int>> groups;
        for (std::size_t place = 0; place < order.size(); ++place) {
            const int at = static_cast<int>(place);
            groups[mesh.rank(others, order[place], 0)].insert(at / stride / size * stride +
                                                              at % stride);
        }
        for (const auto& [here, there] : groups) {
            if (there.size() > 1) {
                unlike.push_back(axis.name);
                break;
            }
        }
    }
    return unlike;
}

}  // namespace podsim::topology
