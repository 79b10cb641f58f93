// Checks that a plan can run with a model.
#pragma once

namespace podsim::sim {
class InputFaults;
}  // namespace podsim::sim

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// Checks the plan against the model: tokens is a multiple of sequence; tensor divides N, K (or the
/// columns K H), F, the experts' F, the latents and V (with tensor_transpose their product);
/// tensor_transpose divides D, expert the routed experts; sequence splits into 2 x context zig-zag
/// segments (causal, unless plain) and context x tensor equal segments, ... Throws SettingError
/// with the offending setting, the allowed values, and the nearest values that work.
void validate(const TrainingPlan& plan, const ModelSpec& model);
/// Reports all faults at the paths of the settings, `mesh.tensor`; a consequence of another fault
/// is not reported.
void validate(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults);

}  // namespace podsim::workloads
