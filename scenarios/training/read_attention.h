// How attention is computed, from `training` or a stage of a program: mask, kernels of the backward pass and their blocks; of
// `training` the placement, too.
#pragma once

#include "scenarios/yaml/reader.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// Mask, kernels and blocks of a section with `attention`, `attention_backward` and `attention_blocks`. Blocks are 512 x 512 without `attention_blocks`, as MaxText's, and none where
/// `attention_backward: book` counts what the mask leaves.
workloads::SelfAttention read_attention_kernels(const Reader& section);

/// All but the VMEM of the chip; with `attention_kernel: dot_product` no kernel, but scores in HBM.
workloads::SelfAttention read_attention(const Reader& training);

}  // namespace podsim::scenarios
