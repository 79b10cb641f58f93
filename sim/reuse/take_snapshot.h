// Writes down the state of a component: what must be equal, in an order that does not depend on how the run came there.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/queue/event.h"
#include "sim/reuse/components.h"
#include "sim/reuse/history.h"
#include "sim/reuse/snapshot.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

/// The component of `graph`, of which the task `mark` has just ended. `pending`: all pending events, in any order; none
/// of the component's may be of this instant.
Snapshot take_snapshot(const RunState& state, const Components& components, std::uint32_t graph,
                       const History& history, std::uint32_t mark,
                       const std::vector<Event>& pending);

}  // namespace podsim::sim
