// What a program adds up to: FLOPs by pass, collective bytes by layer, and the FLOPs of MFU and
// HFU.
#pragma once

#include <array>
#include <string_view>
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
///   model     what `rule` counts, below
///   hardware  what is executed: model by the rule `executed`, + `recomputed` (what recomputation executes on a chip,
///             step.h) x chips x occupied (the share of it on real tokens).
/// Without embedding and loss (plan.layers_only) only the layers count.
/// Of an evaluation step (plan.forward_only) a third: 2 x parameters and the forward dot products.
/// Of inference: 2 x the parameters of the layers' matmuls for each new token, the unembedding's for each row of logits, and the
/// dot products of attention with its cache; by `parameters` 2 x all active parameters a token.
/// mfu = model / (step time x chips x peak), hfu = hardware / the same.
/// The rules, per token:
///   executed          6 x the parameters of its matmuls (an embedding's lookup is none) + attention: 12 S N H L, half of
///                     it when causal. It is executed whatever the plan, so that MFU is at most 1.
///   parameters        6 x all (active) parameters, the text's 6ND
///   masked_attention  6 x all parameters + attention as in `executed`
///   full_attention    6 x all parameters + attention with all scores, whatever the mask
///   maxtext...        as versions of MaxText log it, of causal training steps (maxtext_flops.h)
enum class FlopRule {
    executed,
    parameters,
    masked_attention,
    full_attention,
    maxtext,
    maxtext_unwindowed,
    maxtext_2025,
    maxtext_2024,
    maxtext_2024_unwindowed
};
/// `executed`, `6ND`, `maxtext`: as scenarios have them.
std::string_view to_string(FlopRule rule);

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
