// Custom calls that compute attention. Their bodies are not in the text, so their work follows from
// names and shapes.
//
// With the first operand q [.., S, heads, d] or [.., heads, S, d] and the second, k (or k and v in
// one, [.., 2, heads, d]), FLOPs are
//   forward   4 x (elements of q) x (positions of k)       two matmuls
//   backward 10 x                                          five; dq alone 6 x, dkv beside it 8 x
// Causal attention does half of it and is assumed unless the caller says otherwise. Positions are
// the longer of the two dimensions before d. If q and k agree in only one of the two, as with
// grouped heads, that one is the positions.
#pragma once

#include <optional>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

struct AttentionKernel {
    double matmuls = 2;  ///< of the whole square of scores
    bool backward = false;
    bool dq = false;  ///< gradient of the queries alone
    /// Gradient of keys and values, and of the queries if no other kernel computes it.
    bool dkv = false;
    /// The mask, if the text states it: `mask_type` of te_fused_attn is 0 for none and from 2 on
    /// causal.
    std::optional<bool> causal;
    double queries = 0;  ///< rows of scores of one head
    double keys = 0;
    double head = 0;   ///< size d of a head
    double heads = 0;  ///< of all sequences
};

/// Returns nothing for other instructions. Names or targets identify a kernel: flash, splash, mha,
/// fused_attn, attention; bwd, backward, dkv, dq.
std::optional<AttentionKernel> attention_of(const Computation& computation,
                                            const Instruction& instruction);

}  // namespace podsim::workloads::hlo
