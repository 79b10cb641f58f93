// Ceilings: the time of the step if one thing cost nothing.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/base/parallel.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

struct WhatIfOptions {
    bool reuse = true;
    /// Also run each condition with an order of operations of its own (overlap.schedule:
    /// latency_hiding), and take it if it is better. By default all conditions keep the step's
    /// order.
    bool reschedule = false;
};

/// Simulates the step again, once for each of
///   ici=inf, dcn=inf, pcie=inf  links of that class take no time, latency kept (only classes that
///                               the step uses)
///   hbm=inf, mxu=inf            memory, or matmuls, take no time
///   latency=0                   no link has latency
///   no remat                    nothing is computed twice, whether or not it fits (only with
///                               remat)
/// and derives from `result`, the run of this scenario,
///   perfect overlap             the larger of the busiest compute stream's and the busiest link's
///                               busy time, of all chips.
/// Collectives take the algorithm that is the fastest under each condition. Ceilings do not add up.
///
/// Folded runs proceed in parallel, on `jobs` threads; unfolded ones, which need the memory, follow
/// each other. The result does not depend on that. Throws the exception of the first that throws.
std::vector<Ceiling> what_if(const Scenario& scenario, const StepResult& result, Fold fold,
                             const WhatIfOptions& options = {}, int jobs = available_jobs(),
                             Watch* watch = nullptr);

}  // namespace podsim::scenarios
