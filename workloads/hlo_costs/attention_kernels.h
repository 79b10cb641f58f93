// Custom calls that compute attention. Their bodies are not in the text, so that what they do follows from names and shapes.
//
// Of the first operand q [.., S, heads, d] or [.., heads, S, d] and the second, k (or k and v in one, [.., 2, heads, d]):
//   forward   4 x (elements of q) x (positions of k)       two matmuls
//   backward 10 x                                          five; dq alone 6 x, dkv beside it 8 x
// Causal attention, which is assumed unless the caller says otherwise, does half of it. Of the two dimensions before d, positions are
// the one by which q and k agree where heads are grouped, else the longer.
#pragma once

#include <optional>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

struct AttentionKernel {
    double matmuls = 2;  ///< of the whole square of scores
    bool backward = false;
    bool dq = false;   ///< the queries' gradient alone
    bool dkv = false;  ///< keys' and values', and the queries' where no other kernel makes it
    std::optional<bool>
        causal;  ///< where the text says it: `mask_type` of te_fused_attn, 0 none, from 2 on causal
    double queries = 0;  ///< rows of scores of one head
    double keys = 0;
    double head = 0;   ///< d
    double heads = 0;  ///< of all sequences
};

/// Nothing of other instructions. Known by name or target: flash, splash, mha, fused_attn, attention; bwd, backward, dkv, dq.
std::optional<AttentionKernel> attention_of(const Computation& computation,
                                            const Instruction& instruction);

}  // namespace podsim::workloads::hlo
