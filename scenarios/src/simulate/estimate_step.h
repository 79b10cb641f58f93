// Estimates of a step by closed forms, without a run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/step_programs.h"
#include "sim/base/quantity.h"
#include "workloads/bounds/book_step.h"
#include "workloads/bounds/roofline.h"

namespace podsim::scenarios {

/// Bounds of a step at ideal rates, whatever the profile.
struct StepBounds {
    workloads::LowerBound lower;
    sim::Seconds serial;
    sim::Seconds book;
    workloads::WeightLoading book_loading{};  ///< empty if the HBM is private
};
StepBounds bounds_of(const Scenario& scenario, const BuiltStep& built);

/// Memory of the chip that needs most, with its operations in program order. A run in which
/// collectives overlap compute may temporarily hold more, or less.
struct OrderedMemory {
    sim::Bytes peak;
    sim::Bytes capacity;
    bool fits = false;
    bool tight = false;  ///< as in MemoryUse
    std::vector<std::pair<std::string, sim::Bytes>> at_peak;
};
OrderedMemory memory_in_order(const Scenario& scenario, const BuiltStep& built);

struct StepEstimate {
    StepBounds bounds;
    OrderedMemory memory;
    double prefetch_layers = 0;  ///< in force after the memory bound
};
/// Estimates a step; the scenario must not be a program. Throws as build_step_of does.
StepEstimate estimate_step(const Scenario& scenario);

/// The size of a run.
struct RunSize {
    /// Exactly the events of the run: hops served and tasks ended.
    std::uint64_t events = 0;
    int simulated_chips = 0;
    int chips = 0;
    /// Upper estimate of the memory that podsim needs for the run (simulate/run_memory.h).
    double most_memory_bytes = 0;
};
/// Returns the size of the run of a step or a program, without evaluation steps. The scenario is
/// lowered as for a run. Throws sim::InputError if the lowering or the run is refused, Stopped if
/// the watch ends it.
RunSize size_of_run(const Scenario& scenario, Fold fold = Fold::automatic, Watch* watch = nullptr);

}  // namespace podsim::scenarios
