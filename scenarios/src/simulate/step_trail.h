// A step's programs and all events of its run, kept for timelines.
#pragma once

#include <memory>

#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/run_record.h"
#include "scenarios/src/simulate/run_step.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Trail of the folded step, which takes the same times as the unfolded one.
struct StepTrail {
    workloads::StepPrograms programs;
    LoweredStep step;
    StepRun run;
    std::shared_ptr<const RunRecord> record;
};

}  // namespace podsim::scenarios
