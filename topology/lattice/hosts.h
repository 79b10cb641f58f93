// The hosts of a slice: groups of chips that share a host's memory, PCIe root and NIC.
//
// A host's chips form a box (2x2x1 on v4p and v5p, 4x2 on v3, v5e and v6e) that tiles the slice
// from its origin. A slice that is shorter than the box along an axis clips it, and the box may be
// rotated. The orientation with the fewest hosts is taken; among equals, that of the catalogue (a
// 2x4 slice of v5e is one host, not two halves). A box that does not divide a length leaves smaller
// hosts at the far edge; no catalogue shape does that.
#pragma once

#include "topology/lattice/lattice.h"

namespace podsim::topology {

class Hosts {
public:
    /// `host_shape`: chips of one host, as in ChipSpec::host_shape (each length at least 1).
    Hosts(const Lattice& slice, const Point& host_shape);

    /// Chips of one host in this slice's orientation.
    [[nodiscard]] const Point& box() const { return box_; }

    /// Hosts along each axis.
    [[nodiscard]] const Point& grid() const { return grid_; }

    [[nodiscard]] int count() const { return grid_[0] * grid_[1] * grid_[2]; }

    /// Returns the host of a chip (a point of the slice's box), numbered over grid() with z
    /// fastest.
    [[nodiscard]] int host_of(const Point& chip) const;

private:
    Point box_{1, 1, 1};
    Point grid_{1, 1, 1};
};

inline constexpr int kMostHostChips = 32;

/// Throws sim::InputError if no order of the host's axes divides the pod, since the hosts of a
/// whole pod are all alike; the message names the nearest host that does. Throws beyond
/// kMostHostChips too.
void check_host(const Point& host_shape, const Point& pod_shape, int dimensions);

}  // namespace podsim::topology
