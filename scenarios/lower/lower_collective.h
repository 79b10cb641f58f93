// One collective on every group of a slice at once, and nothing else: what `podsim collective` runs,
// and by what `auto` picks an algorithm.
#pragma once

#include <optional>
#include <string>

#include "collectives/catalogue/closed_form.h"
#include "scenarios/lower/lowering.h"
#include "sim/executor/executor.h"

namespace podsim::scenarios {

struct Lone {
    sim::Workload workload;  ///< one task, whose duration is the launch cost
    int hops = 0;
    std::string served;  ///< what carries the bytes, where the algorithm has a choice
};

/// Where it is simulated: what the group folds to, or what its ends leave of that.
Layout layout_of(const CollectiveRequest& request, Fold fold);

/// `request.algorithm` is not read.
Lone lower_lone(const CollectiveRequest& request, collectives::Algorithm algorithm,
                const Layout& layout);

/// The algorithm that carries out the request, and its folded run if choosing it took one.
struct Picked {
    collectives::Algorithm algorithm{};
    std::optional<Lone> lone{};
    sim::ExecutionResult run{};
};

/// `automatic` is the fastest on its own (collectives/catalogue/choose_algorithm.h), by folded runs; between slices the default
/// of resolve_between_slices. Throws sim::InputError
/// when the operation has no such algorithm.
Picked pick_algorithm(const CollectiveRequest& request);

}  // namespace podsim::scenarios
