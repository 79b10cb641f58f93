// Skips what repeats: the state of a component moves to its image, that many periods on.
#pragma once

#include <cstdint>

#include "sim/reuse/components.h"
#include "sim/reuse/history.h"
#include "sim/reuse/snapshot.h"
#include "sim/state/pending_events.h"
#include "sim/state/run_state.h"

namespace podsim::sim {

/// Repeats the run of the component of `graph` between two snapshots, of which `now` is the present state and the image
/// of `from`: its tasks end and its links carry as often as they would, the observer hears of it. The history's log is
/// used up. What is pending must then move as the result says; the clock stays.
Skipped skip_repeats(RunState& state, const Components& components, std::uint32_t graph,
                     History& history, const Snapshot& from, const Snapshot& now,
                     std::uint32_t repeats);

/// What an event of a component says after that.
std::uint64_t renumbered(const RunState& state, const Components& components, std::uint64_t what,
                         const Skipped& skipped);

}  // namespace podsim::sim
