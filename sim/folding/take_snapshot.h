// Records the state of a component: all values that must be equal, in an order that does not depend
// on the run's past.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/folding/components.h"
#include "sim/folding/history.h"
#include "sim/folding/snapshot.h"
#include "sim/queue/event.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

/// Records the component of `graph`, whose task `mark` has just ended or is about to. `pending`
/// holds all pending events, in any order; none of the component's may be of this instant.
Snapshot take_snapshot(const RunState& state, const Components& components, std::uint32_t graph,
                       const History& history, std::uint32_t mark,
                       const std::vector<Event>& pending);

}  // namespace podsim::sim
