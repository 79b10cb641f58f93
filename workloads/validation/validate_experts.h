// Whether the experts of a model can be run as a plan says.
#pragma once

namespace podsim::sim {
class InputFaults;
}  // namespace podsim::sim

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// The part of validate_plan.h that is about experts: ways, capacity and imbalance, dense or sparse.
void validate_experts(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults);

}  // namespace podsim::workloads
