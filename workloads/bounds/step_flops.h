// Totals of a program: FLOPs by pass, collective bytes by layer, and the FLOPs of MFU and HFU.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/quantity.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

enum class FlopRule;
struct ModelSpec;

// FLOPs of a token as MaxText counts them for the TFLOP/s/device that it logs.
//
//   6 x (the parameters of its layers' matmuls + V D of the unembedding)
//     + 6 N (H + H of values) pairs / S of each layer
//
// The count does not depend on the plan. Versions differ in the pairs of query and key, for a
// sequence S and a window W:
//   maxtext       S^2 / 2, in local layers S W - W^2 / 2 (since 2026-04-11); layers of further
//                 tokens count as the last, without the projection before them and without a
//                 further unembedding, and with S^2 / 2 pairs (since 2026-04-21)
//   maxtext_2025  S^2 / 2, in local layers S W / 2 (since 2025-07-22); further tokens count nothing
//   maxtext_2024  S^2, in local layers S W, and again nothing for further tokens
// MaxText counts windows of its decoder blocks gemma2, gemma3, gemma4 and gpt_oss (gemma3 since
// 2025-07-22, gpt_oss since 2025-09-03), and chunks of llama4, which no sequence here exceeds.
// Layers of other blocks (olmo3) count as if they saw all: the rules `..._unwindowed`. Without
// windows maxtext_2025 is maxtext_unwindowed except for further tokens.
// Source: AI-Hypercomputer/maxtext, maxtext_utils.py, calculate_tflops_training_per_device,
// @e591f30 and its history: a4c0172, 6be4567, 6288c23, dd40a27.

/// Returns the training FLOPs of one token by one of MaxText's rules.
double maxtext_flops_per_token(const ModelSpec& model, std::int64_t sequence, FlopRule rule);

struct ModelSpec;
struct TrainingPlan;

/// FLOPs that one chip executes in each pass, including the tokens of padded shards.
struct PassFlops {
    std::array<sim::Flops, 4> by_pass{};  ///< in the order of Pass
    [[nodiscard]] sim::Flops of(Pass pass) const { return by_pass[static_cast<std::size_t>(pass)]; }
    [[nodiscard]] sim::Flops total() const;
};
PassFlops flops_by_pass(const StepProgram& program);

/// FLOPs of one step over all chips, for the global batch's real tokens (no padding).
///   model     the count of `rule`, below
///   hardware  the executed FLOPs: model by the rule `executed`, + `recomputed` (the recomputation
///             that a chip executes, step.h) x chips x occupied (the fraction of it on real
///             tokens).
/// Without embedding and loss (plan.layers_only) only the layers count. An evaluation step
/// (plan.forward_only) counts a third: 2 x parameters and the forward dot products. Inference
/// counts 2 x the parameters of the layers' matmuls for each new token, those of the unembedding
/// for each row of logits, and the dot products of attention with its cache; by `parameters`
/// 2 x all active parameters a token.
/// mfu = model / (step time x chips x peak), hfu = hardware / the same.
/// The rules, per token:
///   executed          6 x the parameters of its matmuls (an embedding's lookup is none) +
///                     attention: 12 S N H L, half of it when causal. It is executed whatever the
///                     plan, so that MFU is at most 1.
///   parameters        6 x all (active) parameters, the text's 6ND
///   masked_attention  6 x all parameters + attention as in `executed`
///   full_attention    6 x all parameters + attention with all scores, whatever the mask
///   maxtext...        as versions of MaxText log it, for causal training steps
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
/// Returns the name that scenarios use: `executed`, `6ND`, `maxtext`.
std::string_view to_string(FlopRule rule);

struct StepFlops {
    sim::Flops model;
    sim::Flops hardware;
};
StepFlops step_flops(const ModelSpec& model, const TrainingPlan& plan, sim::Flops recomputed,
                     FlopRule rule = FlopRule::executed);

/// Collective bytes of one layer (-1: outside the layers), pass and purpose: the sum of V over its
/// collectives, an AllReduce twice (as the reference text counts the cost of a strategy).
struct CollectiveBytes {
    int layer = -1;
    Pass pass{};
    Purpose purpose{};
    sim::Bytes bytes;
};
/// Returns the rows in order of layer, pass, purpose, without those of no bytes.
std::vector<CollectiveBytes> collective_bytes(const StepProgram& program);

}  // namespace podsim::workloads
