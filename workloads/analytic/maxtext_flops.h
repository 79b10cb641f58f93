// FLOPs of a token as MaxText counts them for the TFLOP/s/device that it logs.
//
//   6 x (the parameters of its layers' matmuls + V D of the unembedding) + 6 N (H + H of values) pairs / S of each layer
//
// whatever the plan does. Versions differ in the pairs of query and key, of a sequence S and a window W:
//   maxtext       S^2 / 2, in local layers S W - W^2 / 2 (since 2026-04-11); layers of further tokens count as the last, without the
//                 projection before them and without a further unembedding, and with S^2 / 2 pairs (since 2026-04-21)
//   maxtext_2025  S^2 / 2, in local layers S W / 2 (since 2025-07-22); further tokens count nothing
//   maxtext_2024  S^2, in local layers S W, and again nothing for further tokens
// MaxText counts windows of its decoder blocks gemma2, gemma3, gemma4 and gpt_oss (gemma3 since 2025-07-22, gpt_oss since 2025-09-03), and chunks of llama4, which no sequence here
// exceeds. Layers of other blocks (olmo3) count as if they saw all: the rules `..._unwindowed`; without windows maxtext_2025 is
// maxtext_unwindowed but for further tokens.
// Source: AI-Hypercomputer/maxtext, maxtext_utils.py, calculate_tflops_training_per_device, @e591f30 and its history: a4c0172, 6be4567, 6288c23,
// dd40a27.
#pragma once

#include <cstdint>

namespace podsim::workloads {

enum class FlopRule;
struct ModelSpec;

/// Training FLOPs of one token by one of MaxText's rules.
double maxtext_flops_per_token(const ModelSpec& model, std::int64_t sequence, FlopRule rule);

}  // namespace podsim::workloads
