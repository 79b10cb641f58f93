// The attention of one layer in the forward pass: projections, dot products and output. The rows
// that it reads, and the sum that it adds to, belong to the layer (layer.h).
//
// Latent attention (T > 1): the columns of the latent vectors are split over tensor and gathered,
//   latent [AllGather latents] qkv ...
// If tensor does not divide the key/value heads, their columns are split instead and gathered
// before attention. The gradients, to which the query heads of every tensor rank contribute, are
// reduced and scattered.
#pragma once

#include "workloads/step/block.h"

namespace podsim::workloads {

/// Tensors that outlive the forward pass.
struct SavedAttention {
    Tensor latent;
    Tensor latent_gathered;
    Tensor qkv;
    Tensor kv_gathered;
    Tensor attended;
    Tensor scores;             ///< exponentials, if they go through HBM
    Tensor attended_gathered;  ///< over tensor_transpose
};

/// Returns the matrix that reads the rows of the layer.
inline Matrix first_projection(const Shard& shard) {
    return shard.latent.width > 0 ? Matrix::latent : Matrix::qkv;
}

/// Result of attention_pass.
struct AttentionOut {
    OpIndex last_read = 0;  ///< the last operation that reads the block's input
    PartialSums sums;       ///< over tensor
};
AttentionOut attention_pass(ForwardParts& parts, Holder& holder, LayerKind kind, Arriving& rows,
                            SavedAttention& saved);

/// Repeats the projections of queries, keys and values from the complete rows.
void recompute_projections(ForwardParts& parts, Arriving& rows, SavedAttention& alive);
/// Completes the output of attention's heads over tensor_transpose, unless it is alive.
void complete_attended(ForwardParts& parts, SavedAttention& alive);
/// Repeats attention's output and the complete keys and values from q, k and v.
void recompute_attention(ForwardParts& parts, LayerKind kind, SavedAttention& alive);

/// Returns the bytes of complete keys and values that had to be gathered; without a gather they are
/// those of qkv. In ring attention they are never complete at once (matmul_overlap.h).
double gathered_kv_bytes(const ForwardParts& parts);
/// Returns the bytes of this chip's columns of the latents, and of the complete latents that
/// had to be gathered.
double latent_bytes(const Shard& shard);
double gathered_latent_bytes(const ForwardParts& parts);

/// Returns the block of keys that arrives in a round of ring attention; nothing if no query of
/// this chip sees it.
std::optional<int> block_of(const ForwardParts& parts, std::size_t piece);

/// Attention, or its gradient, once its keys and values arrive: whole, or block by block as they
/// come round the ring. In a layer with a window they come only as far as its queries see them.
struct AttentionWork {
    std::string_view what;
    Compute whole;
    PartOf part;  ///< by keys
    /// Attention to a window, by round.
    Compute (*of_pairs)(const Shard&, std::span<const PiecePair>, bool);
    bool gradient = false;
};
Tensor over_keys(ForwardParts& parts, LayerKind kind, const AttentionWork& work,
                 const Arriving& keys, const Sources& others);

}  // namespace podsim::workloads
