// Ceilings: how long the step would take if one thing cost nothing.
#pragma once

#include <string>
#include <vector>

#include "scenarios/ranks/parallel.h"
#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

struct WhatIfOptions {
    bool reuse = true;
    /// Each condition with an order of operations of its own (overlap.schedule: latency_hiding), where that is better than the
    /// step's, which all keep else.
    bool reschedule = false;
};

/// The step simulated again, once for each of
///   ici=inf, dcn=inf, pcie=inf  links of that class without a time of their own, latency kept (only classes
///                               that the step uses)
///   hbm=inf, mxu=inf            memory, or matmuls, without a time of their own
///   latency=0                   of every link
///   no remat                    nothing computed twice, whether or not it fits (only with remat)
/// and, read off `result`, the run of this scenario,
///   perfect overlap             the larger of the busiest compute stream's and the busiest link's busy time, of all chips.
/// Collectives take the algorithm that is the fastest under each condition. Ceilings do not add up.
///
/// Folded runs go on beside each other, on `jobs` threads; unfolded ones, which want the memory, one after the
/// other. The result does not depend on it. Throws what the first of them throws.
std::vector<Ceiling> what_if(const Scenario& scenario, const StepResult& result, Fold fold,
                             const WhatIfOptions& options = {}, int jobs = available_jobs(),
                             Watch* watch = nullptr);

}  // namespace podsim::scenarios
