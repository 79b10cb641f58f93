// Whether a plan can be run with a model.
#pragma once

namespace podsim::sim {
class InputFaults;
}  // namespace podsim::sim

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// Checks the plan against the model: tokens is a multiple of sequence, tensor divides N, K (or the
/// columns K H), F, the experts' F, the latents and V (with tensor_transpose their product), tensor_transpose D, expert
/// divides the routed experts, sequence splits into 2 x context zig-zag pieces (causal, unless plain) and context x
/// tensor equal parts,
/// ... Throws SettingError with the offending setting, what is allowed, and the nearest values that work.
void validate(const TrainingPlan& plan, const ModelSpec& model);
/// All that is wrong, at the places of the settings, `mesh.tensor`: what follows from another fault is not said.
void validate(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults);

}  // namespace podsim::workloads
