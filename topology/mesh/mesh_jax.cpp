// Maps sizes to a device mesh as JAX's create_device_mesh does.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <tuple>

#include "sim/base/error.h"
#include "topology/lattice/shape.h"
#include "topology/mesh/mesh.h"
#include "topology/mesh/mesh_sizes.h"

namespace podsim::topology {
namespace {

/// Sets of physical axes (bit a: axis a), in the order in which they are tried.
constexpr std::array kAxisSets{7U, 3U, 5U, 6U, 1U, 2U, 4U};

/// [logical axis]: its numbers of chips along x, y, z.
using Shares = std::vector<Point>;

int product(const Point& point) {
    return point[0] * point[1] * point[2];
}

/// Assigns whole axes to every logical axis, the last first. Returns the index of an axis that
/// finds none.
std::optional<std::size_t> take_whole_axes(const Lattice& slice, const Sizes& sizes, Shares& shares,
                                           unsigned& taken) {
    for (std::size_t i = sizes.size(); i-- > 0;) {
        if (sizes[i].second == 1) {
            continue;
        }
        bool found = false;
        for (const unsigned set : kAxisSets) {
            Point share{1, 1, 1};
            for (std::size_t axis = 0; axis < kAxes; ++axis) {
                share[axis] = (set >> axis & 1U) != 0 ? slice.lengths[axis] : 1;
            }
            if ((set & taken) == 0 && product(share) == sizes[i].second) {
                shares[i] = share;
                taken |= set;
                found = true;
                break;
            }
        }
        if (!found) {
            return i;
        }
    }
    return std::nullopt;
}

/// Returns the merit of a share if `used` chips of each axis are taken; larger is better. Among
/// equals JAX's code (_prefer_first_logical_axis_assignment, jax-ml/jax @cec06d1) takes the one
/// with more on axes that are taken already, `> 1`; the comment above it says the reverse.
std::tuple<int, int, int, Point> merit(const Lattice& slice, const Point& used,
                                       const Point& share) {
    int in_whole_axes = 1;
    int whole_axes = 0;
    int on_taken_axes = 1;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        if (share[axis] == slice.lengths[axis] && share[axis] > 1) {
            in_whole_axes *= share[axis];
            ++whole_axes;
        }
        if (used[axis] > 1) {
            on_taken_axes *= share[axis];
        }
    }
    return {in_whole_axes, whole_axes, on_taken_axes, share};
}

Point best_share(const Lattice& slice, const Point& used, int size) {
    std::optional<Point> best;
    const auto fits = [&](std::size_t axis, int share) {
        return slice.lengths[axis] / used[axis] % share == 0;
    };
    for (int x = 1; x <= size; ++x) {
        if (size % x != 0 || !fits(0, x)) {
            continue;
        }
        for (int y = 1; y <= size / x; ++y) {
            const Point share{x, y, size / x / y};
            if (product(share) != size || !fits(1, y) || !fits(2, share[2])) {
                continue;
            }
            if (!best || merit(slice, used, share) > merit(slice, used, *best)) {
                best = share;
            }
        }
    }
    return best.value();  // there is one, as choose_mesh explains
}

void split_axes(const Lattice& slice, const Sizes& sizes, Shares& shares) {
    Point used{1, 1, 1};
    for (std::size_t i = sizes.size(); i-- > 0;) {
        shares[i] = best_share(slice, used, sizes[i].second);
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
            used[axis] *= shares[i][axis];
        }
    }
}

/// Assigns chips along x, then y, then z, with the last logical axis fastest. All lengths and sizes
/// are powers of two.
void count_off(const Lattice& slice, const Sizes& sizes, Shares& shares) {
    Point left = slice.lengths;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        int wanted = sizes[i].second;
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
            shares[i][axis] = std::min(wanted, left[axis]);
            left[axis] /= shares[i][axis];
            wanted /= shares[i][axis];
        }
    }
}

sim::InputError no_whole_axes(const Lattice& slice, const std::pair<std::string, int>& wanted,
                              unsigned taken) {
    std::vector<std::string> left;
    for (int axis = 0; axis < kAxes; ++axis) {
        if ((taken >> axis & 1U) == 0 && slice.length(axis) > 1) {
            left.push_back(fmt::format("{} {}", axis_name(axis), slice.length(axis)));
        }
    }
    return sim::InputError(
        fmt::format("the {} chips of '{}' are not the product of whole axes of slice {}: {}",
                    wanted.second, wanted.first, to_string(slice.lengths),
                    left.empty()
                        ? std::string("the axes after it leave none")
                        : fmt::format("the axes after it leave {}", fmt::join(left, ", "))),
        "choose sizes that are, or the mapping that splits axes, jax_split");
}

}  // namespace

DeviceMesh map_mesh_as_jax(const Lattice& slice,
                           const std::vector<std::pair<std::string, int>>& all_sizes,
                           const PlacingOrder& order, bool split_physical_axes, int slices,
                           std::string_view chip) {
    check_sizes(slice, all_sizes, slices);
    Sizes sizes = all_sizes;
    std::vector<LogicalAxis> axes;
    for (const auto& [name, size] : sizes) {
        axes.push_back({name, {}});
    }
    place_slices(sizes, slices, order.slices, axes);
    Shares shares(sizes.size(), Point{1, 1, 1});
    unsigned taken = 0;
    const bool counted = !jax_order(chip, slice).empty();
    if (counted) {
        count_off(slice, sizes, shares);
    } else if (const auto without = take_whole_axes(slice, sizes, shares, taken)) {
        if (!split_physical_axes) {
            throw no_whole_axes(slice, sizes[*without], taken);
        }
        split_axes(slice, sizes, shares);
    }
    // Along a physical axis the later logical axis has the nearer neighbours.
    Point stride{1, 1, 1};
    for (std::size_t i = sizes.size(); i-- > 0;) {
        for (int n = 0; n < kAxes; ++n) {
            const int axis = counted ? kAxes - 1 - n : n;  // ranks count along x first
            const auto a = static_cast<std::size_t>(axis);
            if (shares[i][a] > 1) {
                axes[i].factors.push_back({axis, stride[a], shares[i][a]});
                stride[a] *= shares[i][a];
            }
        }
    }
    return {slice, std::move(axes), slices};
}

}  // namespace podsim::topology
