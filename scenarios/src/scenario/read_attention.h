// Reads how attention is computed, from `training` or a stage of a program: the mask, the kernels
// of the backward pass and their blocks, and from `training` also the placement.
#pragma once

#include "scenarios/src/scenario/reader.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// Reads the mask, kernels and blocks of a section with `attention`, `attention_backward` and
/// `attention_blocks`. Without `attention_blocks` blocks are 512 x 512, as MaxText's. There are no
/// blocks if `attention_backward: book` counts only the scores that the mask leaves.
workloads::SelfAttention read_attention_kernels(const Reader& section);

/// Reads everything but the VMEM of the chip. With `attention_kernel: dot_product` there is no
/// kernel, but scores in HBM.
workloads::SelfAttention read_attention(const Reader& training);

}  // namespace podsim::scenarios
