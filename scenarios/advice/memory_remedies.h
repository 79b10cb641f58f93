// What would make a step fit that does not: single changes of its plan, of which each is tried by the account of memory alone.
#pragma once

#include <string>
#include <vector>

#include "scenarios/simulate/simulate.h"
#include "scenarios/text/json_text.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// A change with which the step fits.
struct Remedy {
    std::string text;  ///< `training.remat: full`
    std::vector<std::string>
        set;          ///< the same as --set takes it; empty of other meshes and more chips
    sim::Bytes peak;  ///< with it
};

struct Remedies {
    std::vector<Remedy>
        each{};  ///< those without more chips first, in the order of what they cost in time
    sim::Bytes least_peak =
        sim::Bytes::infinity();  ///< of all that was tried but the batch of inference
};

/// None of a step that fits.
Remedies memory_remedies(const Scenario& scenario, const StepResult& result);

/// Of the `memory` of a result that does not fit `remedies`, and where there are none `least_peak_bytes`.
void add_remedies(Json& memory, const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
