// What the report of a step says where it is one of inference.
#pragma once

#include <string>

#include "scenarios/simulate/simulate.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// `decode of 32 sequences, 8192 tokens of each in the cache`.
std::string runs_text(const workloads::TrainingPlan& plan);

/// `weights int8, cache int8, bf16 matmuls, the cache split over sequences`.
std::string stored_text(const Scenario& scenario);

/// Why the end of a step whose bound is the HBM waits for the MXU most of all, in a line: it takes fewer rows than its array has
/// as long as those. Empty of all other steps.
std::string few_rows_text(const Scenario& scenario, const StepResult& result);

/// What weights and cache take, how many sequences fit, and the reference text's forms; empty of training.
std::string inference_report(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
