// Elementwise work that is fused into the operations of work.h: its HBM bytes and its operations on the vector
// unit (vector_work.h). Symbols as in work.h.
#pragma once

#include "workloads/shards/shard.h"

namespace podsim::workloads {

struct Elementwise {
    double bytes = 0;
    double operations = 0;
    double gathered = 0;  ///< of bytes: of rows that indices name
    double apart = 0;     ///< of bytes: of kernels of their own

    friend Elementwise operator+(Elementwise a, Elementwise b) {
        return {a.bytes + b.bytes, a.operations + b.operations, a.gathered + b.gathered,
                a.apart + b.apart};
    }
};

/// A block's norms and the residual sum before them, and their backward.
Elementwise norm_and_residual(const Shard& shard);
Elementwise norm_and_residual_gradient(const Shard& shard);
/// The final norm, the only one between the last layer and the logits.
Elementwise final_norm(const Shard& shard);
Elementwise final_norm_gradient(const Shard& shard);
/// A block's norm again, where remat does not keep the normed input.
Elementwise normed_again(const Shard& shard, bool again);

/// tokens x width activations; gate and up where the MLP is gated.
Elementwise activation_function(const Shard& shard, double tokens, double width);
Elementwise activation_gradient(const Shard& shard, double tokens, double width);
Elementwise activation_again(const Shard& shard, double tokens, double width);

/// Rotary embedding and norms of queries and keys, which XLA makes kernels of their own (work.h); norms of latent vectors are those of
/// the latents.
Elementwise query_key(const Shard& shard);
Elementwise query_key_gradient(const Shard& shard);
Elementwise latent_norm(const Shard& shard);
Elementwise latent_norm_gradient(const Shard& shard);

/// Rows read once and their copies for experts written, or the copies read and their sums written;
/// `operations` of each copied element.
Elementwise copied_rows(const Shard& shard, double operations);

}  // namespace podsim::workloads
