// What a program adds up to: FLOPs by pass, collective bytes by layer, and the FLOPs of MFU and
// HFU.
#pragma once

#include <array>
#include <vector>

#include "sim/base/quantity.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// FLOPs that one chip executes in each pass, the tokens of padded shards included.
struct PassFlops {
    std::array<sim::Flops, 4> by_pass{};  ///< in the order of Pass
    [[nodiscard]] sim::Flops of(Pass pass) const { return by_pass[static_cast<std::size_t>(pass)]; }
    [[nodiscard]] sim::Flops total() const;
};
PassFlops flops_by_pass(const StepProgram& program);

/// FLOPs of one step over all chips, for the global batch's real tokens (no padding).
///   model     tokens x (6 x all parameters + attention: 12 S N H L, half of it when causal). The
///   lookup of an
///             untied embedding and the norms execute no FLOPs but count, as is usual for MFU.
///   hardware  model + `recomputed` (what recomputation executes on a chip, step.h) x chips x occupied (the share of
///             it on real tokens).
/// Without embedding and loss (plan.layers_only) the
/// parameters are those of the layers.
/// Of an evaluation step (plan.forward_only) a third of model: 2 x parameters and the forward dot products.
/// mfu = model / (step time x chips x peak), hfu = hardware / the same.
/// `rule` counts model as other sources do:
///   executed        as above: attention as executed, half when causal
///   parameters      6 x parameters alone
///   full_attention  with all scores, whatever the mask
enum class FlopRule { executed, parameters, full_attention };

struct StepFlops {
    sim::Flops model;
    sim::Flops hardware;
};
StepFlops step_flops(const ModelSpec& model, const TrainingPlan& plan, sim::Flops recomputed,
                     FlopRule rule = FlopRule::executed);

/// Collective bytes of one layer (-1: outside the layers), pass and purpose: the sum of V over its
/// collectives, an AllReduce twice (the reference text's way to count a strategy's cost).
struct CollectiveBytes {
    int layer = -1;
    Pass pass{};
    Purpose purpose{};
    sim::Bytes bytes;
};
/// In order of layer, pass, purpose; rows of no bytes are left out.
std::vector<CollectiveBytes> collective_bytes(const StepProgram& program);

}  // namespace podsim::workloads
