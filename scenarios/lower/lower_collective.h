// One collective on every group of a slice at once, and nothing else: what `podsim collective` runs,
// and by what `auto` picks an algorithm.
#pragma once

#include <optional>
#include <string>

#include "collectives/catalogue/closed_form.h"
#include "collectives/paths/shift_table.h"
#include "scenarios/lower/build_machine.h"
#include "scenarios/lower/layout.h"
#include "scenarios/spec/request.h"
#include "scenarios/watch/watch.h"
#include "sim/executor/executor.h"

namespace podsim::scenarios {

struct Lone {
    sim::Workload workload;  ///< one task, whose duration is the launch cost
    int hops = 0;
    std::string served;              ///< what carries the bytes, where the algorithm has a choice
    collectives::ShiftTable shifts;  ///< the displacements of its schedule
};

/// Where it is simulated: what the group folds to, or what its ends leave of that.
Layout layout_of(const AchievedHardware& hardware, const StageCollective& collective, Fold fold);

/// By that algorithm, whatever `collective` says of it.
Lone lower_lone(const AchievedHardware& hardware, const StageCollective& collective,
                collectives::Algorithm algorithm, const Layout& layout);

/// The algorithm that carries out a collective, and its folded run if choosing it took one. What else asks for the HBM is
/// not known when it is chosen, so every candidate runs as if it asked for none.
struct Picked {
    collectives::Algorithm algorithm{};
    std::optional<Lone> lone{};
    sim::ExecutionResult run{};
};

/// `automatic` is the fastest on its own (collectives/catalogue/choose_algorithm.h), by folded runs; between slices the default
/// of collectives::resolve. Throws sim::InputError
/// when the operation has no such algorithm, Stopped where the watch ends it.
Picked pick_algorithm(const AchievedHardware& hardware, const StageCollective& collective,
                      Watch* watch = nullptr);

}  // namespace podsim::scenarios
