// How attention is computed, from `training`: mask, placement, kernels of the backward pass and their blocks.
#pragma once

#include "scenarios/yaml/reader.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// All but the VMEM of the chip. Blocks are 512 x 512 without `attention_blocks`, as MaxText's, and none where
/// `attention_backward: book` counts what the mask leaves.
workloads::SelfAttention read_attention(const Reader& training);

}  // namespace podsim::scenarios
