// Sections of the report of an inference step.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/simulate.h"
#include "sim/base/quantity.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

// The largest batch that the chips of an inference step hold, by the same account of memory as the
// step's own.

/// Returns the largest number of sequences, of as many tokens as the step's, with which the
/// program's memory stays within a chip's; 0 if not even one fits. The step must have a single run.
std::int64_t largest_batch(const Scenario& scenario);

/// Rounds up to the number of sequences for which the fullest shard has room: a shard has whole
/// sequences, and the peak is that of the fullest.
std::int64_t in_whole_shards(const Scenario& scenario, std::int64_t sequences);

/// Returns the peak of the plan with another batch, without a look-ahead.
sim::Bytes peak_with_batch(const Scenario& scenario, std::int64_t sequences);

/// Returns text such as `decode of 32 sequences, 8192 tokens of each in the cache`.
std::string runs_text(const workloads::TrainingPlan& plan);

/// Returns text such as `weights int8, cache int8, bf16 matmuls, the cache split over sequences`.
std::string stored_text(const Scenario& scenario);

/// Explains in a line why a step whose bound is the HBM waits most of all for the MXU: rows that do
/// not fill its array take as long as a full array. Empty for all other steps.
std::string few_rows_text(const Scenario& scenario, const StepResult& result);

/// Returns the memory of weights and cache, the number of sequences that fit, and the reference
/// text's forms; empty for training.
std::string inference_report(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
