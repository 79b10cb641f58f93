// Transfers between a chip's HBM and its host's memory (the machine graph's route).
#pragma once

#include "collectives/paths/shift_table.h"
#include "collectives/vocabulary/host_direction.h"
#include "sim/base/quantity.h"
#include "sim/workload/schedule.h"

namespace podsim::collectives {

/// Builds the schedule in which every chip moves `bytes` to or from its host, in messages of at
/// most `message_cap`. The host's memory is not contended, since chips have PCIe links of their
/// own.
///   time on an idle link = sum over messages of bytes / rate (each rounded up) + latency
/// Throws sim::InputError beyond 20 million messages.
sim::Schedule build_host_transfer(HostDirection direction, sim::Bytes bytes, sim::Bytes message_cap,
                                  ShiftTable& shifts);

}  // namespace podsim::collectives
