// Checks that a model can run a step of inference: the checks of validate_plan.h for runs and the
// cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/input_faults.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// A fault of a sequence, and its remedy.
struct TooLong {
    std::string problem;
    std::string remedy;
};

/// Returns the fault of a sequence with `tokens` computed tokens: more than the model has
/// positions, or than a chunk within which it attends. Returns nothing if the model can run it.
std::optional<TooLong> too_long(const ModelSpec& model, std::int64_t tokens);

/// Checks runs, with the tokens that are generated after them, their context, and the axis
/// `cache`, which only inference has. Adds SettingErrors.
void check_inference(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults);

}  // namespace podsim::workloads
