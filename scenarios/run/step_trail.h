// What a step was made of and all that it did, kept for those who look at it: timelines.
#pragma once

#include <memory>

#include "scenarios/lower/lower_step.h"
#include "scenarios/run/run_record.h"
#include "scenarios/run/run_step.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Of the folded step, which takes the same times as the unfolded one.
struct StepTrail {
    workloads::StepPrograms programs;
    LoweredStep step;
    StepRun run;
    std::shared_ptr<const RunRecord> record;
};

}  // namespace podsim::scenarios
