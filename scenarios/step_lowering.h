// From a step program to a workload of the kernel: one task per operation, one schedule per kind of
// collective, on the places that are simulated.
#pragma once

#include <vector>

#include "scenarios/lowering.h"
#include "workloads/analytic.h"
#include "workloads/program.h"

namespace podsim::scenarios {

/// The rates that the simulation and the estimates share.
workloads::MachineRates machine_rates(const Hardware& hardware);

/// The members of a collective of the program.
collectives::Members members_of(const workloads::Collective& collective,
                                const topology::DeviceMesh& mesh);

struct LoweredStep {
    sim::Workload workload;  ///< task i is operation i of the program
    Layout layout;
};

LoweredStep lower_step(const workloads::StepProgram& program, const Hardware& hardware,
                       const topology::DeviceMesh& mesh, Fold fold);

/// When the operations of the representatives began and ended, and where the run ended.
struct StepRun {
    sim::ExecutionResult result;
    int reported = 0;              ///< the representative that ended last (the first such)
    std::vector<sim::Time> began;  ///< of the reported chip, by operation
    std::vector<sim::Time> ended;
};

/// With `reuse`, repeating layers are played once (sim/executor.h).
StepRun run_step(const LoweredStep& step, bool reuse = true);

}  // namespace podsim::scenarios
