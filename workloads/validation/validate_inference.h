// Whether a step of inference can be run with a model: the part of validate_plan.h that is about runs and the cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/input_faults.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// What is wrong with a sequence, and what to do instead.
struct TooLong {
    std::string problem;
    std::string remedy;
};

/// Of a sequence of so many tokens that are computed: more than the model has positions, or than a chunk within which it attends. None
/// where it can be.
std::optional<TooLong> too_long(const ModelSpec& model, std::int64_t tokens);

/// Checks runs, with what is generated behind them, their context, and the axis `cache`, which is nothing but inference's. Adds SettingErrors.
void check_inference(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults);

}  // namespace podsim::workloads
