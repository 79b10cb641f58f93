// How the report says that attention and experts are computed, with what their tiles compute beyond the FLOPs.
#pragma once

#include <string>

namespace podsim::workloads {
struct ModelSpec;
struct Ranks;
struct TrainingPlan;
}  // namespace podsim::workloads

namespace podsim::scenarios {

/// `causal attention on zig-zag parts with two backward kernels`, after which parts and blocks follow.
std::string attention_text(const workloads::TrainingPlan& plan);
/// Lines on what blocks of attention and tiles or places of experts compute, on a chip of these ranks, that MFU does not count; empty where
/// there are none.
std::string padding_text(const workloads::ModelSpec& model, const workloads::TrainingPlan& plan,
                         const workloads::Ranks& ranks);

}  // namespace podsim::scenarios
