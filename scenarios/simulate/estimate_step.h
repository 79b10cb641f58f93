// What closed forms say of a step, without running it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scenarios/simulate/step_programs.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/quantity.h"
#include "workloads/analytic/book_step.h"
#include "workloads/roofline/roofline.h"

namespace podsim::scenarios {

/// At ideal rates, whatever the profile.
struct StepBounds {
    workloads::LowerBound lower;
    sim::Seconds serial;
    sim::Seconds book;
    workloads::WeightLoading book_loading{};  ///< nothing where the HBM is private
};
StepBounds bounds_of(const Scenario& scenario, const BuiltStep& built);

/// What a chip holds with its operations in program order, of the chip that needs most. A run in which collectives overlap
/// compute may hold more for a while, or less.
struct OrderedMemory {
    sim::Bytes peak;
    sim::Bytes capacity;
    bool fits = false;
    bool tight = false;  ///< as MemoryUse has it
    std::vector<std::pair<std::string, sim::Bytes>> at_peak;
};
OrderedMemory memory_in_order(const Scenario& scenario, const BuiltStep& built);

struct StepEstimate {
    StepBounds bounds;
    OrderedMemory memory;
    double prefetch_layers = 0;  ///< in force after the memory bound
};
/// Of a scenario that is no program. Throws as build_step_of does.
StepEstimate estimate_step(const Scenario& scenario);

/// The size of a run.
struct RunSize {
    std::uint64_t events = 0;  ///< exactly those of the run: hops served and tasks ended
    int simulated_chips = 0;
    int chips = 0;
    double most_memory_bytes = 0;  ///< that podsim takes for it (footprint/run_memory.h)
};
/// Of a step or a program, evaluation steps not counted. It is lowered as for a run. Throws sim::InputError where that, or the run, is refused, Stopped
/// where the watch ends it.
RunSize size_of_run(const Scenario& scenario, Fold fold = Fold::automatic, Watch* watch = nullptr);

}  // namespace podsim::scenarios
