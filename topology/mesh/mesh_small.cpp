// Small slices, whose chips JAX orders itself.
#include <map>
#include <set>

#include "topology/mesh/mesh.h"

namespace podsim::topology {
namespace {

/// Chips counted along x, then y, then z, in JAX's order.
std::vector<int> numbers(std::string_view chip, const Point& lengths) {
    const int chips = lengths[0] * lengths[1] * lengths[2];
    if (chip == "v5p" && lengths == Point{2, 2, 2}) {
        return {0, 1, 3, 2, 6, 7, 5, 4};
    }
    if ((chip != "v5e" && chip != "v6e") || lengths[2] > 1) {
        return {};
    }
    if (lengths == Point{2, 2, 1}) {
        return {0, 1, 3, 2};
    }
    return chips == 8 ? std::vector{0, 1, 2, 3, 7, 6, 5, 4} : std::vector<int>{};
}

/// Of an axis within a slice.
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
    int stride = static_cast<int>(order.size());  // places in JAX's order from member to member
    for (const LogicalAxis& axis : mesh.axes()) {
        const int size = size_within(axis);
        stride /= size;
        std::vector<std::string> others;
        for (const LogicalAxis& other : mesh.axes()) {
            if (other.name != axis.name) {
                others.push_back(other.name);
            }
        }
        // Members of one group here, and there.
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
