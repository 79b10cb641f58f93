// One collective alone, on every group of a slice at once. `podsim collective` runs it, and `auto`
// uses it to choose an algorithm.
#pragma once

#include <optional>
#include <string>

#include "collectives/catalogue/closed_form.h"
#include "collectives/paths/shift_table.h"
#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/request.h"
#include "scenarios/src/simulate/build_machine.h"
#include "scenarios/src/simulate/layout.h"
#include "sim/executor/executor.h"

namespace podsim::scenarios {

struct Lone {
    sim::Workload workload;  ///< one task, whose duration is the launch cost
    int hops = 0;
    /// Describes the routes that carry the bytes, if the algorithm has a choice.
    std::string served;
    collectives::ShiftTable shifts;  ///< the displacements of its schedule
};

/// Returns the places of the simulation: those to which the group folds, as far as the ends of the
/// collective permit.
Layout layout_of(const AchievedHardware& hardware, const StageCollective& collective, Fold fold);

/// Lowers the collective with that algorithm, whatever `collective` sets.
Lone lower_lone(const AchievedHardware& hardware, const StageCollective& collective,
                collectives::Algorithm algorithm, const Layout& layout);

/// The algorithm of a collective, and its folded run if the choice took one. Other requests to the
/// HBM are unknown at that time, so every candidate runs as if it made none.
struct Picked {
    collectives::Algorithm algorithm{};
    std::optional<Lone> lone{};
    sim::ExecutionResult run{};
};

/// Returns the algorithm. `automatic` is the fastest on its own, by folded runs
/// (collectives/catalogue/choose_algorithm.h); between slices it is the default of
/// collectives::resolve. Throws sim::InputError if the operation has no such algorithm, Stopped if
/// the watch ends it.
Picked pick_algorithm(const AchievedHardware& hardware, const StageCollective& collective,
                      Watch* watch = nullptr);

}  // namespace podsim::scenarios
