// Checks that the experts of a model can run under a plan.
#pragma once

namespace podsim::sim {
class InputFaults;
}  // namespace podsim::sim

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// Checks experts for validate_plan.h: ways, capacity and imbalance, dense or sparse.
void validate_experts(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults);

}  // namespace podsim::workloads
