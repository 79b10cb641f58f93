// The attention of one layer: projections, dot products and output, in the forward pass. The rows that
// it reads, and the sum that it adds to, are the layer's (layer.h).
//
// Latent attention (T > 1): the latent vectors' columns are split over tensor and gathered,
//   latent [AllGather latents] qkv ...
// When tensor does not divide the key/value heads, their columns are split instead and gathered before
// attention; the gradients, to which every way's query heads contribute, are reduced and scattered.
#pragma once

#include "workloads/layers/block.h"

namespace podsim::workloads {

/// What outlives the forward pass.
struct SavedAttention {
    Tensor latent;
    Tensor latent_gathered;
    Tensor qkv;
    Tensor kv_gathered;
    Tensor attended;
    Tensor scores;             ///< exponentials of them, where they go through HBM
    Tensor attended_gathered;  ///< over tensor_transpose
};

/// The matrix that reads the rows of the layer.
inline Matrix first_projection(const Shard& shard) {
    return shard.latent.width > 0 ? Matrix::latent : Matrix::qkv;
}

struct AttentionOut {
    OpIndex last_read = 0;  ///< the last operation that reads the block's input
    PartialSums sums;       ///< over tensor
};
AttentionOut attention_pass(ForwardParts& parts, Holder& holder, LayerKind kind, Arriving& rows,
                            SavedAttention& saved);

/// The projections of queries, keys and values once more, from the complete rows.
void recompute_projections(ForwardParts& parts, Arriving& rows, SavedAttention& alive);
/// What attention's heads made, complete over tensor_transpose, unless it is alive.
void complete_attended(ForwardParts& parts, SavedAttention& alive);
/// Attention's output and complete keys and values once more, from q, k and v.
void recompute_attention(ForwardParts& parts, LayerKind kind, SavedAttention& alive);

/// Bytes of complete keys and values that had to be gathered; otherwise they are those of qkv. In ring
/// attention they are never there at once (matmul_overlap.h).
double gathered_kv_bytes(const ForwardParts& parts);
/// Bytes of this chip's columns of the latents, and of the complete ones that had to be gathered.
double latent_bytes(const Shard& shard);
double gathered_latent_bytes(const ForwardParts& parts);

/// The block of keys that comes in a round of ring attention; nothing where no query of this chip sees it.
std::optional<int> block_of(const ForwardParts& parts, std::size_t piece);

/// Attention, or its gradient, once its keys and values come: whole, or part by part as they come round the ring, as
/// far as a window's queries see them in a layer that has one.
struct AttentionWork {
    std::string_view what;
    Compute whole;
    PartOf part;                                                          ///< by keys
    Compute (*of_pairs)(const Shard&, std::span<const PiecePair>, bool);  ///< to a window, by round
    bool gradient = false;
};
Tensor over_keys(ForwardParts& parts, LayerKind kind, const AttentionWork& work,
                 const Arriving& keys, const Sources& others);

}  // namespace podsim::workloads
