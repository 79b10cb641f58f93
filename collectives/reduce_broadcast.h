// AllReduce on a line: reduce to the middle and broadcast back, pipelined in messages.
//
// Every link carries the array once in each direction, partial sums inwards and results outwards at
// the same time, so a long array takes V / r: half of what ReduceScatter then AllGather needs on a
// long line. With m messages of tau = V/(m r) and H = the longer way from the middle to an end,
//   T = (m - 1) tau + 2 H (tau + a)          (latency rule `floor`: max(tau, a) for tau + a)
// exactly: messages follow each other tau apart and no two meet in one direction of a link.
#pragma once

#include "collectives/schedule.h"

namespace podsim::collectives {

/// Messages: ceil(V / cap), but enough that filling the line costs little: 64 for each link of it, as
/// long as they are not below 4 KiB.
std::uint32_t reduce_broadcast_messages(const topology::AxisFactor& line, sim::Bytes v,
                                        sim::Bytes message_cap);

/// The schedule on a group of one line. Payloads: phase 0 reduces, phase 1 gathers; [low, high) / unit
/// of the whole array.
CollectiveSchedule build_reduce_broadcast(const topology::Lattice& slice, const Group& group,
                                          sim::Bytes v, const ScheduleOptions& options,
                                          ShiftTable& shifts);

}  // namespace podsim::collectives
