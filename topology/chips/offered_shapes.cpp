// The shapes that a generation offers, and make_slice.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <vector>

#include "sim/base/error.h"
#include "topology/chips/chip.h"

namespace podsim::topology {
namespace {

std::int64_t chips_of(const Point& shape) {
    return std::int64_t{shape[0]} * shape[1] * shape[2];
}

bool power_of_two(int n) {
    return (n & (n - 1)) == 0;
}

bool every(const Point& shape, auto&& predicate) {
    return std::all_of(shape.begin(), shape.end(), predicate);
}

/// Returns k of a twistable shape with its lengths in ascending order, 0 for any other.
int twist_unit(const Point& shape) {
    const int k = shape[0];
    const bool kk2k = shape[1] == k && shape[2] == 2 * k;
    const bool k2k2k = shape[1] == 2 * k && shape[2] == 2 * k;
    return k % 4 == 0 && (kk2k || k2k2k) ? k : 0;
}

bool whole_cubes(const Point& shape) {
    return every(shape, [](int length) { return length % 4 == 0; });
}

Point in_order(Point shape) {
    std::ranges::sort(shape);
    return shape;
}

/// True if the shape lies inside the pod, with its axes in any order.
bool inside(const Point& shape, const Point& pod) {
    return std::ranges::equal(in_order(shape), in_order(pod), std::ranges::less_equal());
}

constexpr int kWrapLength = 16;  // of Wraparound::length_of_16

/// Returns the pod of a chip whose lengths are powers of two, at most 16.
Point up_to_wrap_length(Point pod) {
    for (int& length : pod) {
        length = std::min(length, kWrapLength);
    }
    return pod;
}

/// True if the generation offers the shape, plain or twisted. The lengths are positive.
bool offers(const ChipSpec& chip, const Point& shape, bool twisted) {
    const Point& pod = chip.pod_shape.value;
    if (twisted) {
        return twist_unit(shape) > 0 && chips_of(shape) <= chips_of(pod);
    }
    for (std::size_t axis = static_cast<std::size_t>(chip.torus_dimensions.value); axis < kAxes;
         ++axis) {
        if (shape[axis] != 1) {
            return false;
        }
    }
    switch (chip.wraparound.value) {
        case Wraparound::full_pod:
            return every(shape, power_of_two) && inside(shape, pod);
        case Wraparound::cubes_of_4:
            return chips_of(shape) <= chips_of(pod) &&
                   (whole_cubes(shape) ||
                    every(shape, [](int length) { return length <= 4 && power_of_two(length); }));
        case Wraparound::length_of_16:
            return every(shape, power_of_two) && inside(shape, up_to_wrap_length(pod));
        case Wraparound::every_axis:
        case Wraparound::never:
            return inside(shape, pod);
    }
    return false;
}

/// Returns the rule of `offers` in words.
std::string rule(const ChipSpec& chip, bool twisted) {
    const Point& pod = chip.pod_shape.value;
    const std::int64_t most = chips_of(pod);
    if (twisted) {
        return fmt::format(
            "{} twists k x k x 2k and k x 2k x 2k, k a multiple of 4, up to {} chips", chip.name,
            most);
    }
    const int dimensions = chip.torus_dimensions.value;
    switch (chip.wraparound.value) {
        case Wraparound::full_pod:
            return fmt::format("{} offers lengths that are powers of two, up to {}", chip.name,
                               to_string(pod, dimensions));
        case Wraparound::cubes_of_4:
            if (most < 64) {  // a cube of 4x4x4
                return fmt::format("{} offers boxes of lengths 1, 2, 4, up to {} chips", chip.name,
                                   most);
            }
            return fmt::format(
                "{} offers lengths that are all multiples of 4, up to {} chips, or boxes "
                "of lengths 1, 2, 4 inside one 4x4x4 cube",
                chip.name, most);
        case Wraparound::length_of_16:
            return fmt::format("{} offers lengths that are powers of two, up to {}", chip.name,
                               to_string(up_to_wrap_length(pod), dimensions));
        case Wraparound::every_axis:
        case Wraparound::never:
            break;
    }
    return fmt::format("{} offers any lengths on {} axes, up to {}", chip.name, dimensions,
                       to_string(pod, dimensions));
}

std::vector<Point> offered_shapes(const ChipSpec& chip, bool twisted) {
    const std::int64_t most = chips_of(chip.pod_shape.value);
    std::vector<int> lengths{1, 2};
    for (int length = 4; length <= most; length += 4) {
        lengths.push_back(length);
    }
    std::vector<Point> shapes;
    for (const int x : lengths) {
        for (const int y : lengths) {
            if (std::int64_t{x} * y > most) {
                break;
            }
            for (const int z : lengths) {
                if (chips_of({x, y, z}) > most) {
                    break;
                }
                if (offers(chip, {x, y, z}, twisted)) {
                    shapes.push_back({x, y, z});
                }
            }
        }
    }
    return shapes;
}

/// Returns the product over axes of the factor by which the lengths differ: 1 for equal shapes.
double length_ratio(const Point& a, const Point& b) {
    double ratio = 1;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const auto [low, high] = std::minmax(a[axis], b[axis]);
        ratio *= static_cast<double>(high) / low;
    }
    return ratio;
}

/// Returns the largest box of `shape` that lies inside the pod, axis by axis in the order of their
/// lengths.
Point cut_to(const Point& pod, Point shape, int dimensions) {
    std::fill(shape.begin() + dimensions, shape.end(), 1);
    std::array<std::size_t, kAxes> axes{0, 1, 2};
    std::ranges::stable_sort(axes, {}, [&](std::size_t axis) { return shape[axis]; });
    const Point most = in_order(pod);
    for (std::size_t rank = 0; rank < kAxes; ++rank) {
        shape[axes[rank]] = std::min(shape[axes[rank]], most[rank]);
    }
    return shape;
}

/// Returns the offered shapes nearest to `shape`, by lengths and by number of chips, in words.
std::string nearest_shapes(const ChipSpec& chip, const Point& shape, bool twisted) {
    const int dimensions = chip.torus_dimensions.value;
    const Wraparound wraparound = chip.wraparound.value;
    if (!twisted && (wraparound == Wraparound::every_axis || wraparound == Wraparound::never)) {
        return "; nearest: " +
               to_string(cut_to(chip.pod_shape.value, shape, dimensions), dimensions);
    }
    const std::vector<Point> shapes = offered_shapes(chip, twisted);
    if (shapes.empty()) {
        return {};
    }
    const auto ratio = [&](const Point& p) { return length_ratio(p, shape); };
    const auto off = [&](const Point& p) { return std::abs(chips_of(p) - chips_of(shape)); };
    const Point by_lengths = *std::ranges::min_element(
        shapes, {}, [&](const Point& p) { return std::pair(ratio(p), off(p)); });
    // A single length is taken for a number of chips; among shapes of so many chips, the one
    // nearest to a cube wins.
    const bool count = dimensions > 1 && shape[1] == 1 && shape[2] == 1;
    const Point by_chips = *std::ranges::min_element(shapes, {}, [&](const Point& p) {
        return std::pair(off(p), count ? static_cast<double>(p[0] + p[1] + p[2]) : ratio(p));
    });
    std::string text = "; nearest: " + to_string(by_lengths, dimensions);
    if (by_chips != by_lengths) {
        text += fmt::format(" by lengths, {} by number of chips", to_string(by_chips, dimensions));
    }
    return text;
}

/// Returns the shape as the user of this chip writes it: with the chip's axes, or more if it uses
/// more.
std::string written(const ChipSpec& chip, const Point& shape) {
    int dimensions = chip.torus_dimensions.value;
    for (int axis = dimensions; axis < kAxes; ++axis) {
        if (shape[static_cast<std::size_t>(axis)] != 1) {
            dimensions = axis + 1;
        }
    }
    return to_string(shape, dimensions);
}

void check_twisted(const ChipSpec& chip, const Point& shape) {
    const std::string text = written(chip, shape);
    if (!chip.twistable.value) {
        std::vector<std::string> names;
        for (const ChipSpec& other : chip_catalogue()) {
            if (other.twistable.value) {
                names.push_back(other.name);
            }
        }
        throw sim::InputError(fmt::format("{} slices cannot be twisted", chip.name),
                              fmt::format("leave {} untwisted, or take a chip that twists: {}",
                                          text, fmt::join(names, ", ")));
    }
    if (offers(chip, shape, true)) {
        return;
    }
    const Point sorted = in_order(shape);
    if (offers(chip, sorted, true)) {
        throw sim::InputError(fmt::format("twisted slice {} has its axes in the wrong order", text),
                              fmt::format("put the short axes first: {}", to_string(sorted)));
    }
    throw sim::InputError(fmt::format("{} does not offer a twisted slice {}", chip.name, text),
                          rule(chip, true) + nearest_shapes(chip, shape, true));
}

}  // namespace

Lattice make_slice(const ChipSpec& chip, const Point& shape, bool twisted) {
    const std::string text = written(chip, shape);
    if (!every(shape, [](int length) { return length >= 1; })) {
        throw sim::InputError(fmt::format("slice {} has an axis without chips", text),
                              "every length is at least 1");
    }
    if (twisted) {
        check_twisted(chip, shape);
    } else if (!offers(chip, shape, false)) {
        throw sim::InputError(fmt::format("{} does not offer a slice {}", chip.name, text),
                              rule(chip, false) + nearest_shapes(chip, shape, false));
    }
    Lattice slice{.lengths = shape, .wrapped = {}, .wrap_shift = {}};
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        switch (chip.wraparound.value) {
            case Wraparound::full_pod:
                slice.wrapped[axis] =
                    in_order(shape) == in_order(chip.pod_shape.value) && shape[axis] > 1;
                break;
            case Wraparound::cubes_of_4:
                slice.wrapped[axis] = whole_cubes(shape);
                break;
            case Wraparound::length_of_16:
                slice.wrapped[axis] = shape[axis] == kWrapLength;
                break;
            case Wraparound::every_axis:
                slice.wrapped[axis] = shape[axis] > 1;
                break;
            case Wraparound::never:
                break;
        }
    }
    if (twisted) {
        slice.wrapped = {true, true, true};
        const int k = shape[0];
        if (shape[1] == k) {
            slice.wrap_shift = {Point{0, 0, k}, Point{0, 0, k}, Point{}};
        } else {
            slice.wrap_shift = {Point{0, k, k}, Point{}, Point{}};
        }
    }
    return slice;
}

}  // namespace podsim::topology
