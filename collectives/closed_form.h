// Exact times of the algorithms that have a closed form: one factor of neighbouring chips, alone.
//
// With block b = V/n cut into m messages of tau = b/(m r) seconds (each rounded up to a picosecond),
// J steps, of which one, the edge step of a two-way ring of even length, moves half a block:
//   J = floor(n/2) two-way ring,  n-1 one-way ring or line
//   e = messages of the edge step: m/2 (half of one message when m = 1) for even two-way rings, else m
//   busy = ((J-1) m + e) tau
//   AllGather, ReduceScatter, additive latency a:  T = max(busy, (J-1)(tau + a) + e tau) + a
//     either the link never idles, or each step waits for the first message of the step before.
//   latency rule `floor`:
//     AllGather, or m = 1:   T = (J-1) max(m tau, a) + max(e tau, a)
//     ReduceScatter, m > 1:  T = busy when a <= m tau (messages without a predecessor fill the wait
//                            after the edge step, which comes first), else J a
//   AllReduce on a ring: ReduceScatter, then AllGather. On a line their times overlap: no closed form.
#pragma once

#include <optional>

#include "collectives/algorithm.h"
#include "collectives/schedule.h"
#include "sim/machine.h"

namespace podsim::collectives {

struct LinkModel {
    sim::BytesPerSecond rate;
    sim::Seconds latency;
    sim::LatencyRule rule = sim::LatencyRule::additive;
};

/// The time that the simulation of this collective takes on its own, to the picosecond; nothing for
/// groups of several factors or strided ones, and for AllReduce on lines.
std::optional<sim::Time> closed_form(Operation operation, const topology::Lattice& slice,
                                     const Group& group, Algorithm algorithm, sim::Bytes v,
                                     const ScheduleOptions& options, const LinkModel& link);

}  // namespace podsim::collectives
