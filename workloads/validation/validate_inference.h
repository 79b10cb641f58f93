// Whether a step of inference can be run with a model: the part of validate_plan.h that is about runs and the cache.
#pragma once

#include "sim/base/input_faults.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// Checks runs, their context, and the axis `cache`, which is nothing but inference's. Adds SettingErrors.
void check_inference(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults);

}  // namespace podsim::workloads
