// Chooses a device mesh from sizes alone.
#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <tuple>

#include "sim/base/error.h"
#include "topology/lattice/shape.h"
#include "topology/mesh/mesh.h"
#include "topology/mesh/mesh_sizes.h"

namespace podsim::topology {

void check_sizes(const Lattice& slice, const Sizes& sizes, int slices) {
    std::vector<std::string> terms;
    double product = 1;  // a double: wrong sizes can multiply beyond any integer
    for (const auto& [name, size] : sizes) {
        if (size < 1) {
            throw sim::InputError(fmt::format("logical axis '{}' has size {}", name, size),
                                  "sizes are positive whole numbers");
        }
        product *= size;
        terms.push_back(fmt::format("{} {}", name, size));
    }
    const int chips = slice.size() * slices;
    if (product == chips) {
        return;
    }
    // For each axis, the one size that would correct the product, if it is a whole number.
    std::vector<std::string> mended;
    for (const auto& [name, size] : sizes) {
        const double others = product / size;
        if (others <= chips && chips % static_cast<int>(others) == 0) {
            mended.push_back(fmt::format("{} {}", name, chips / static_cast<int>(others)));
        }
    }
    throw sim::InputError(
        fmt::format("the mesh {} has {:.0f} members, but {} {} {} chips", fmt::join(terms, " x "),
                    product, slices_text(slice, slices), slices == 1 ? "has" : "have", chips),
        mended.empty() ? fmt::format("choose sizes that multiply to {}", chips)
                       : fmt::format("change one size: {}", fmt::join(mended, " or ")));
}

namespace {

/// Returns the indices of the named axes, in that order, then the others as given.
std::vector<std::size_t> turns(const Sizes& sizes, const std::vector<std::string>& named) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, {}, [&](std::size_t i) { return std::ranges::find(named, sizes[i].first); });
    return order;
}

}  // namespace

void place_slices(Sizes& sizes, int slices, const std::vector<std::string>& first,
                  std::vector<LogicalAxis>& axes) {
    int used = 1;
    for (const std::size_t i : turns(sizes, first)) {
        const int share = std::gcd(sizes[i].second, slices / used);
        if (share > 1) {
            axes[i].factors.push_back({kSliceAxis, used, share});
            used *= share;
            sizes[i].second /= share;
        }
    }
}

namespace {

/// Returns the cost of giving `split` chips of each axis to one logical axis; smaller is better.
/// `used` holds the strides that are taken. Whole axes go before blocks, then fewest axes, then
/// smallest strides.
std::tuple<bool, int, int> cost(const Lattice& slice, const Point& used, const Point& split) {
    bool blocks = false;
    int axes = 0;
    int strides = 0;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        if (split[axis] > 1) {
            blocks = blocks || split[axis] != slice.lengths[axis];
            ++axes;
            strides += used[axis];
        }
    }
    return {blocks, axes, strides};
}

/// Returns the best split of a size over the chips that `used` leaves. Ties go to the one that
/// takes more of x, then of y.
Point place(const Lattice& slice, const Point& used, int size) {
    std::optional<Point> best;
    const auto rest = [&](std::size_t axis) { return slice.lengths[axis] / used[axis]; };
    for (int x = std::min(size, rest(0)); x >= 1; --x) {
        if (size % x != 0 || rest(0) % x != 0) {
            continue;
        }
        for (int y = std::min(size / x, rest(1)); y >= 1; --y) {
            const int z = size / x / y;
            if (size / x % y != 0 || rest(1) % y != 0 || rest(2) % z != 0) {
                continue;
            }
            const Point split{x, y, z};
            if (!best || cost(slice, used, split) < cost(slice, used, *best)) {
                best = split;
            }
        }
    }
    assert(best && "the sizes multiply to the chips, so a placement exists (see the header)");
    return best.value();
}

}  // namespace

DeviceMesh choose_mesh(const Lattice& slice, const Sizes& all_sizes, const PlacingOrder& order,
                       int slices) {
    check_sizes(slice, all_sizes, slices);
    Sizes sizes = all_sizes;
    std::vector<LogicalAxis> axes;
    for (const auto& [name, size] : sizes) {
        axes.push_back({name, {}});
    }
    place_slices(sizes, slices, order.slices, axes);
    Point used{1, 1, 1};
    for (const std::size_t i : turns(sizes, order.chips)) {
        const Point split = place(slice, used, sizes[i].second);
        for (int axis = 0; axis < kAxes; ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            if (split[a] > 1) {
                axes[i].factors.push_back({axis, used[a], split[a]});
                used[a] *= split[a];
            }
        }
    }
    return {slice, std::move(axes), slices};
}

}  // namespace podsim::topology
