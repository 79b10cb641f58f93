// The second simulator (brute_force.h) for collectives across slices: every message of every chip of every
// slice in one list, scanned at each instant. It adds to the rules there:
//
// - Of several slices the members in the same place of each are one more step of every part: gathered first and
//   reduced last, `flat` the other way round. The array is divided further by the number of slices, the
//   parts into chunks_between_slices chunks (1 when a slice has one member).
// - Between slices a member sends its block (reducing: its sum for the slice j further round) to each slice
//   j = 1, 2, ... further round once its phase has begun; such a phase has ended when all that comes has come.
// - The way between slices has four links: the chip's to its host, the host's to the network, the network's to
//   the other host, that host's to the chip. Chips of one host share the two in the middle. Each has its
//   rate and latency; all are cut-through.
// - Where all else is equal at a host's link, messages go by their source's index in its host (x slowest).
// - AllToAll: to each member of another slice one route, cut as the others are; numbered after those within the
//   slice, slice after slice, its own place there first.
#pragma once

#include "sim/base/time.h"
#include "tests/collectives/slices/slices_support.h"

namespace podsim::collectives {

/// When the last message arrives; below zero when some never do.
sim::Time brute_force(const SlicesCase& c);

}  // namespace podsim::collectives
