// Integer points modulo a lattice: the chips of a slice, and the chips that a folded run simulates.
//
// A lattice is a box of up to three axes x, y, z. A step past the end of a wrapped axis returns to
// its start and adds `wrap_shift` to the other axes. The shifts are zero in a plain torus, and not
// in a twisted one. An unwrapped axis ends at its edge. Shifts of an axis may only name later axes
// that wrap, so that reduction in axis order ends in one pass; twisted tori satisfy this with their
// short axes first.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace podsim::topology {

inline constexpr int kAxes = 3;

/// Coordinates of a chip, or a displacement between two chips, in chips along x, y, z.
struct Point : std::array<int, kAxes> {};

constexpr Point operator+(Point a, Point b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
constexpr Point operator-(Point a, Point b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
constexpr Point operator*(Point a, int k) {
    return {a[0] * k, a[1] * k, a[2] * k};
}

/// Returns the displacement of `distance` chips along `axis`.
constexpr Point along(int axis, int distance) {
    Point d{};
    d[static_cast<std::size_t>(axis)] = distance;
    return d;
}

/// Returns `x`, `y` or `z`.
constexpr char axis_name(int axis) {
    return "xyz"[axis];
}

struct Lattice {
    Point lengths{1, 1, 1};
    std::array<bool, kAxes> wrapped{};
    std::array<Point, kAxes> wrap_shift{};

    [[nodiscard]] int length(int axis) const { return lengths[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] bool wraps(int axis) const { return wrapped[static_cast<std::size_t>(axis)]; }

    /// True if any wrap shifts another axis: a twisted torus.
    [[nodiscard]] bool twisted() const { return wrap_shift != std::array<Point, kAxes>{}; }

    /// Number of points.
    [[nodiscard]] int size() const { return lengths[0] * lengths[1] * lengths[2]; }

    /// Returns the point of the box that is equal to `p`; nullopt if `p` lies beyond an unwrapped
    /// edge.
    [[nodiscard]] std::optional<Point> canonical(Point p) const;

    /// Numbers points with z fastest: ((x * Y) + y) * Z + z.
    [[nodiscard]] int index(Point canonical_point) const {
        return (canonical_point[0] * lengths[1] + canonical_point[1]) * lengths[2] +
               canonical_point[2];
    }
    [[nodiscard]] Point point(int index) const {
        return {index / (lengths[1] * lengths[2]), index / lengths[2] % lengths[1],
                index % lengths[2]};
    }

    friend bool operator==(const Lattice&, const Lattice&) = default;
};

}  // namespace podsim::topology
