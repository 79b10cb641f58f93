// Folding: the smallest set of chips whose simulation equals that of the whole slice.
//
// Let G be the largest group of translations, containing the slice's own lattice, that preserves
// the link rates, the groups with their ranks and every chip's program. The chips modulo G evolve
// identically, so one of each class is simulated. Along an axis the period of G is
//   1                 if the axis is unused, or wrapped and only used whole,
//   its length        if it is unwrapped and used,
//   stride x length   for a factor in use that is not the outermost of the axis (`x%4`: 4),
//   1                 for the outermost factor of a wrapped axis, strided or not (every translation
//                     rotates or exchanges the groups of `x/4`),
//   stride x length   for a factor whose members do different work, the outermost included,
//   the host's length if hosts' links or memory are in use (no translation may exchange the chips
//                     of a host), or the axis length if the host's length does not divide it.
// If several of these hold, the period is their least common multiple: with `x%4` and `x/4` both in
// use, 4. Mirror images are left to sim/folding, which examines the messages. Slices, and the
// members of their factors, are all alike: one of them is simulated.
#pragma once

#include <span>
#include <vector>

#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"

namespace podsim::topology {

/// Returns the lattice of representatives for traffic within groups of these factors. An unwrapped
/// axis in use keeps its length and its ends; every other axis is wrapped, with its period as
/// length.
///
/// `groups`: the factors of each group in use (merged as by DeviceMesh::group).
/// `kept_axes`: bit a keeps axis a at its length, because the machine is not uniform along it.
/// `host_box`: chips of one host (Hosts::box), {1, 1, 1} if hosts are not used.
/// `unlike`: factors whose members do different work.
///
/// A twisted slice folds only if the whole slice is used and no axis is kept, otherwise every chip
/// is simulated. It folds to one chip, or to one host if every route round the slice leads to the
/// same position in a host.
Lattice fold(const Lattice& slice, std::span<const std::vector<AxisFactor>> groups,
             const Point& host_box = Point{1, 1, 1}, unsigned kept_axes = 0,
             std::span<const AxisFactor> unlike = {});

}  // namespace podsim::topology
