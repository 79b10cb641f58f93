// Reports how attention and experts are computed, and what their tiles compute beyond the counted
// FLOPs.
#pragma once

#include <string>

namespace podsim::workloads {
struct ModelSpec;
struct Ranks;
struct TrainingPlan;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// Returns the mask, the placement of parts and the backward kernels: `causal attention on zig-zag
/// parts with two backward kernels`.
std::string attention_text(const workloads::TrainingPlan& plan);
/// Returns lines on the work that blocks of attention and tiles or capacity of experts add on a
/// chip of these ranks, and that MFU does not count; empty if there is none.
std::string padding_text(const workloads::ModelSpec& model, const workloads::TrainingPlan& plan,
                         const workloads::Ranks& ranks);

}  // namespace podsim::scenarios
