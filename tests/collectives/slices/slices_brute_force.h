// The second simulator (brute_force.h) for collectives across slices: every message of every chip
// of every slice in one list, scanned at each instant. It adds these rules:
//
// - Members at the same position in each slice form one more step of every part: gathered first and
//   reduced last, `flat` the other way round. The array is divided further by the number of slices,
//   the parts into chunks_between_slices chunks (1 if a slice has one member).
// - Between slices a member sends its block (reducing: its sum for the slice j further round) to
//   each slice j = 1, 2, ... further round once its phase has begun. The phase ends when all its
//   messages have come.
// - The route between slices has four links: the chip's to its host, the host's to the network, the
//   network's to the other host, that host's to the chip. Chips of one host share the two in the
//   middle. Each has its rate and latency; all are cut-through.
// - If all else is equal at a host's link, messages go by their source's index in its host (x
//   slowest).
// - AllToAll: one route leads to each member of another slice, cut as the others are. Routes are
//   numbered after those within the slice, slice after slice, the member at the sender's position
//   first.
#pragma once

#include "sim/base/time.h"
#include "tests/collectives/slices/slices_support.h"

namespace podsim::collectives {

/// Returns the arrival time of the last message; below zero if a message never arrives.
sim::Time brute_force(const SlicesCase& c);

}  // namespace podsim::collectives
