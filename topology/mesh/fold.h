// Folding: the smallest set of chips whose simulation equals that of the whole slice.
//
// Let G be the largest group of translations, containing the slice's own lattice, that preserves
// the link rates, the groups with their ranks and every chip's program. The chips modulo G evolve
// identically, so one of each class is simulated. Along an axis the period of G is
//   1                 when the axis is unused, or wrapped and only used whole,
//   its length        when it is unwrapped and used,
//   stride x length   for a factor in use that is not the outermost of the axis (`x%4`: 4),
//   1                 for the outermost factor of a wrapped axis, strided or not (the groups of
//                     `x/4` are rotated or exchanged by every translation),
//   stride x length   for a factor whose members do different work, the outermost included,
//   the host's length when hosts' links or memory are in use (no translation may take one host's
//                     chips to each other's places), or the axis length when it does not divide that,
// and the least common multiple where several of these hold: with `x%4` and `x/4` both in use, 4.
// Mirror images are left to sim/mirror, which looks at the messages.
// Slices, and the members of factors of them, are all alike: one of them is simulated.
#pragma once

#include <span>
#include <vector>

#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"

namespace podsim::topology {

/// The lattice of representatives for traffic within groups of these factors: an unwrapped axis in
/// use keeps its length and its ends, every other axis is wrapped with its period as length.
/// `groups` holds the factors of each group in use (merged as DeviceMesh::group returns them).
/// `kept_axes`: bit a keeps axis a at its length, because the machine is not the same along it.
/// `host_box`: chips of one host (Hosts::box), {1, 1, 1} where hosts are not used.
/// For a twisted slice: one chip (or host, if every way round the slice leads to the same place of a host) when only
/// the whole slice is used and no axis is kept, else every chip.
/// `unlike`: factors whose members do different work.
Lattice fold(const Lattice& slice, std::span<const std::vector<AxisFactor>> groups,
             const Point& host_box = Point{1, 1, 1}, unsigned kept_axes = 0,
             std::span<const AxisFactor> unlike = {});

}  // namespace podsim::topology
