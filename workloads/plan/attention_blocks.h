// In which blocks of queries and keys a flash-attention kernel works.
#pragma once

namespace podsim::workloads {

/// Queries and keys of a block; 0: no blocks, exactly the scores that the mask leaves.
struct ScoreBlock {
    double q = 0;
    double kv = 0;

    friend bool operator==(const ScoreBlock&, const ScoreBlock&) = default;
};

/// Of the forward kernel, the one of keys' and values' gradients (all of the backward pass where it is fused), and the one of
/// queries' gradients: sa_block_q, sa_block_kv, sa_block_q_dkv, sa_block_kv_dkv, sa_block_q_dq, sa_block_kv_dq of MaxText,
/// which are 512 unless a recipe sets them.
struct AttentionBlocks {
    ScoreBlock forward{};
    ScoreBlock dkv{};
    ScoreBlock dq{};

    [[nodiscard]] bool any() const { return forward.q > 0; }
    friend bool operator==(const AttentionBlocks&, const AttentionBlocks&) = default;
};

}  // namespace podsim::workloads
