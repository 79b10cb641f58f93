// The places of a run: the chips of one lattice, in each of several slices.
//
// The data-centre network joins the slices. Every slice is equally near to every other, so there is
// no lattice between them. A displacement between slices is a number of ranks within a factor of
// the slices (SliceFactor), counted cyclically.
#pragma once

#include "topology/lattice/lattice.h"

namespace podsim::topology {

/// A factor of the slices: `length` slices that are `stride` apart, s, s + stride, ..., s + (length
/// - 1) stride. Length 1 is the chip's own slice alone.
struct SliceFactor {
    int stride = 1;
    int length = 1;

    friend bool operator==(const SliceFactor&, const SliceFactor&) = default;
};

/// Returns the slice that is `ranks` members further in the factor, cyclically.
constexpr int slice_at(const SliceFactor& factor, int slice, int ranks) {
    const int rank = slice / factor.stride % factor.length;
    const int next = ((rank + ranks) % factor.length + factor.length) % factor.length;
    return slice + (next - rank) * factor.stride;
}

struct Places {
    Lattice chips;
    int slices = 1;

    Places() = default;
    Places(const Lattice& lattice, int slice_count = 1)  // NOLINT: one slice is a lattice
        : chips(lattice), slices(slice_count) {}

    [[nodiscard]] int size() const { return chips.size() * slices; }

    /// Numbers slice after slice, each in the order of its lattice.
    [[nodiscard]] int index(const Point& canonical_chip, int slice = 0) const {
        return slice * chips.size() + chips.index(canonical_chip);
    }
    /// Returns the chip of a place within its slice.
    [[nodiscard]] Point point(int index) const { return chips.point(index % chips.size()); }
    [[nodiscard]] int slice_of(int index) const { return index / chips.size(); }

    friend bool operator==(const Places&, const Places&) = default;
};

}  // namespace podsim::topology
