#include "workloads/work/attention_work.h"

#include <utility>
#include <vector>

#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {
namespace {

using namespace vector_unit;
using sim::Bytes;
using sim::Flops;

/// Returns the columns of the up projection of keys and values. A key's rope columns belong
/// to no single head.
double kv_up_columns(const Shard& s) {
    return s.heads * (s.head_dim - s.latent.rope_dim + s.value_dim);
}
/// Returns the arrangement of queries, keys and values for the kernel: rotated columns beside the
/// others, those of the keys copied for every head, values separate. Each is read and written
/// once, as in the backward pass (MaxText, layers/attention_mla.py: split,
/// apply_rotary_embedding, concatenate).
Elementwise put_together(const Shard& s) {
    const double columns = 4 * s.head_dim - s.latent.rope_dim + 2 * s.value_dim;
    return {s.tokens * s.heads * columns * s.precision.compute, 0};
}

/// Returns the work of separate values if one projection makes both keys and values. The forward
/// pass writes the values from the source of the keys; the backward pass adds their gradients to
/// the keys'. They go through HBM `times` times: written once, or read beside the keys' gradients,
/// whose sum is written.
Elementwise values_apart(const Shard& s, double times) {
    const double elements = s.shared_kv ? s.tokens * s.kv_heads * s.value_dim : 0;
    return {times * elements * s.precision.compute, elements * (times > 1 ? 1 : 0)};
}

}  // namespace

Compute latent_forward(const Shard& s) {
    return activations(s, s.d_model, s.latent.columns(), norm_and_residual(s));
}

Compute latent_input_gradient(const Shard& s) {
    return activations(s, s.latent.columns(), s.d_model, norm_and_residual_gradient(s),
                       backward_of(s, Matrix::latent));
}

Compute latent_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.d_model, s.latent.columns(),
                           normed_again(s, s.attention_norms_again),
                           backward_of(s, Matrix::latent));
}

Compute qkv_forward(const Shard& s) {
    if (s.latent.width == 0) {
        return activations(s, s.block_rows(), s.block_columns(s.projected_width()),
                           norm_and_residual(s) + query_key(s) + values_apart(s, 1));
    }
    const Compute keys = activations(s, s.latent.kv_rank, kv_up_columns(s),
                                     latent_norm(s) + query_key(s) + put_together(s));
    return s.latent.q_rank == 0 ? keys
                                : both(activations(s, s.latent.q_rank, s.heads * s.head_dim), keys);
}

Compute complete_keys(const Shard& s, double tokens) {
    return activations(s, tokens, s.latent.kv_rank, kv_up_columns(s), {}, Runs::in_plan);
}

Compute qkv_input_gradient(const Shard& s) {
    const Runs runs = backward_of(s, Matrix::qkv);
    if (s.latent.width == 0) {
        return activations(
            s, s.block_columns(s.projected_width()), s.block_rows(),
            norm_and_residual_gradient(s) + query_key_gradient(s) + values_apart(s, 3), runs);
    }
    const Compute keys =
        activations(s, kv_up_columns(s), s.latent.kv_rank,
                    latent_norm_gradient(s) + query_key_gradient(s) + put_together(s), runs);
    return s.latent.q_rank == 0
               ? keys
               : both(activations(s, s.heads * s.head_dim, s.latent.q_rank, {}, runs), keys);
}

Compute qkv_weight_gradient(const Shard& s) {
    const Runs runs = backward_of(s, Matrix::qkv);
    if (s.latent.width == 0) {
        return weight_gradient(s, s.block_rows(), s.block_columns(s.projected_width()),
                               normed_again(s, s.attention_norms_again), runs);
    }
    const Compute keys = weight_gradient(s, s.latent.kv_rank, kv_up_columns(s), {}, runs);
    return s.latent.q_rank == 0
               ? keys
               : both(weight_gradient(s, s.latent.q_rank, s.heads * s.head_dim, {}, runs), keys);
}

namespace {

/// Returns the grid steps of a kernel: the blocks that are set or, without any, the blocks of keys
/// that a block of queries reads.
double steps_of(const Shard& s, const Seen& seen, const InBlocks& kernel) {
    return (s.attention_blocks.any() ? s.heads * kernel.steps : key_blocks(s) * seen.passes) /
           s.cores;
}

/// Returns the bytes of all scores that are made, masked or not.
double all_scores(const Shard& s, const Seen& seen) {
    return s.sequences * s.heads * seen.queries * seen.keys * s.score_bytes;
}

/// Returns two dot products around a softmax, which read each operand once.
Compute forward_through_hbm(const Shard& s, const Seen& seen) {
    constexpr double kPasses = 5;
    const double width = s.head_dim + s.value_dim;
    const double count = s.sequences * s.heads;
    const double scores = count * seen.queries * seen.keys;
    return {.flops = Flops(2 * width * scores),
            .matmuls = {{seen.queries, s.head_dim, seen.keys, count},
                        {seen.queries, seen.keys, s.value_dim, count}},
            .hbm = Bytes((s.tokens * s.heads * width + kv_read(s)) * s.precision.compute +
                         kPasses * all_scores(s, seen)),
            .vector = Flops(scores * kSoftmax),
            .attention = true};
}

/// Returns their gradients: dV, dP, dQ, dK, and the scores once more if only
/// attention's output is kept.
Compute backward_through_hbm(const Shard& s, const Seen& seen) {
    constexpr double kPasses = 7;
    constexpr double kPassesAgain = 4;  // passes forward without the product with V
    const double again = s.scores_again ? 1 : 0;
    const double width = s.head_dim + s.value_dim;
    const double count = s.sequences * s.heads;
    const double scores = count * seen.queries * seen.keys;
    std::vector<MatmulShape> matmuls{{seen.keys, seen.queries, s.value_dim, count},
                                     {seen.queries, s.value_dim, seen.keys, count},
                                     {seen.queries, seen.keys, s.head_dim, count},
                                     {seen.keys, seen.queries, s.head_dim, count}};
    if (s.scores_again) {
        matmuls.push_back({seen.queries, s.head_dim, seen.keys, count});
    }
    return {.flops = Flops(2 * (2 * width + again * s.head_dim) * scores),
            .matmuls = std::move(matmuls),
            .hbm = Bytes((s.tokens * s.heads * 2 * width + 2 * kv_read(s)) * s.precision.compute +
                         (kPasses + again * kPassesAgain) * all_scores(s, seen)),
            .vector = Flops(scores * (kSoftmaxBackward + again * kSoftmax) +
                            s.tokens * s.attended_width() * kOutputDot),
            .attention = true,
            .attention_gradient = true};
}

Compute forward_over(const Shard& s, const Seen& seen) {
    if (s.score_bytes > 0) {
        return forward_through_hbm(s, seen);
    }
    const double queries = seen.queries;
    const double again = seen.again ? s.value_dim : 0;
    const double count = s.sequences * s.heads;
    const double scores = s.heads * seen.pairs;
    const double width = s.head_dim + s.value_dim;
    const AttentionBlocks& blocks = s.attention_blocks;
    const double computed = blocks.any() ? s.heads * seen.forward.scores : scores;
    const double keys =
        blocks.any() ? s.heads * seen.forward.keys * width : kv_read(s) * seen.passes;
    return {.flops = Flops(2 * width * scores),
            .matmuls = {{queries, s.head_dim, seen.keys, count},
                        {queries, seen.keys, s.value_dim, count}},
            .hbm = Bytes((s.tokens * seen.share * s.heads * (width + again) + keys) *
                         s.precision.compute),
            .vector = Flops(computed * kSoftmax),
            .attention = true,
            .grid_steps = steps_of(s, seen, seen.forward),
            .known_max_logit = s.known_max_logit,
            .tiled = scores > 0 ? computed / scores : 1};
}

/// Repetitions of the scores and of their gradient dP in the backward pass, beyond the count of
/// the reference text.
struct MadeAgain {
    int scores = 0;
    int gradients = 0;
};

MadeAgain made_again(BackwardKernels form) {
    switch (form) {
        case BackwardKernels::book:
            return {0, 0};
        case BackwardKernels::fused:
            return {1, 0};
        case BackwardKernels::split:
            return {2, 1};
    }
    return {};
}

/// Returns the elements that go through HBM. One kernel moves queries, outputs and their gradients
/// once. Each block of queries reads keys and values and adds to their gradients, which the first
/// block writes. Two kernels move outputs and their gradients once for D. The kernel of queries
/// moves queries and gradients, and its blocks read keys and values. The other kernel moves keys
/// and values once. Its blocks of keys, with as many rows as the heads of a block of queries share,
/// read queries and gradients. In blocks (AttentionBlocks) every head of queries fetches the
/// elements that its blocks see: keys and values, or queries and gradients. A fused kernel writes
/// queries' gradients for each block of keys, zeros if the mask empties it, and these are added up.
double moved_backward(const Shard& s, const Seen& seen) {
    const double rows = s.tokens * seen.share * s.heads;
    const double again = seen.again ? s.head_dim : 0;
    if (s.attention_blocks.any()) {
        const double width = s.head_dim + s.value_dim;
        const double own = kv_read(s) * (2 * seen.touched + seen.zeroed);
        const double fetched = s.heads * seen.dkv.queries;
        if (s.attention_backward == BackwardKernels::split) {
            return rows * (2 * s.head_dim + 3 * s.value_dim + again) +
                   (fetched + s.heads * seen.dq.keys) * width + own;
        }
        return rows * (s.head_dim + 2 * s.value_dim + again) + fetched * width +
               2 * s.heads * seen.dkv.all * s.head_dim + own;
    }
    if (s.attention_backward == BackwardKernels::split) {
        return rows * (2 * s.head_dim + 3 * s.value_dim + again) +
               kv_read(s) * (2 * seen.passes + 2 * seen.touched + seen.zeroed);
    }
    return rows * (2 * (s.head_dim + s.value_dim) + again) +
           kv_read(s) * (3 * seen.passes - seen.touched + seen.zeroed);
}

// Returns dV = P^T dO, dP = dO V^T, dQ = dP K, dK = dP^T Q, and P once more from Q K^T.
Compute backward_over(const Shard& s, const Seen& seen) {
    if (s.score_bytes > 0) {
        return backward_through_hbm(s, seen);
    }
    const double queries = seen.queries;
    const double count = s.sequences * s.heads;
    const double scores = s.heads * seen.pairs;
    const MadeAgain again = made_again(s.attention_backward);
    std::vector<MatmulShape> matmuls{{seen.keys, queries, s.value_dim, count},
                                     {queries, s.value_dim, seen.keys, count},
                                     {queries, seen.keys, s.head_dim, count},
                                     {seen.keys, queries, s.head_dim, count}};
    matmuls.insert(matmuls.end(), static_cast<std::size_t>(again.scores),
                   {queries, s.head_dim, seen.keys, count});
    matmuls.insert(matmuls.end(), static_cast<std::size_t>(again.gradients),
                   {queries, s.value_dim, seen.keys, count});
    const bool split = s.attention_backward == BackwardKernels::split;
    const double outputs = seen.first ? s.tokens * s.attended_width() * kOutputDot : 0;
    const double useful =
        scores * ((2 + again.scores) * s.head_dim + (2 + again.gradients) * s.value_dim);
    double exponents = scores * (split ? 2 : 1);
    double tiled = 1;
    if (s.attention_blocks.any() && scores > 0) {
        // The kernel of keys and values makes S, dV, dP, dK (fused also dQ), that of
        // queries S, dP, dQ.
        const double dq = s.heads * seen.dq.scores * (split ? 1 : 0);
        const double dkv = s.heads * seen.dkv.scores;
        exponents = dkv + dq;
        tiled = (dkv * ((split ? 2 : 3) * s.head_dim + 2 * s.value_dim) +
                 dq * (2 * s.head_dim + s.value_dim)) /
                useful;
    }
    return {.flops = Flops(2 * useful),
            .matmuls = std::move(matmuls),
            .hbm = Bytes(moved_backward(s, seen) * s.precision.compute),
            .vector = Flops(exponents * kSoftmaxBackward + outputs),
            .attention = true,
            .attention_gradient = true,
            .grid_steps = steps_of(s, seen, seen.dkv) + (split ? steps_of(s, seen, seen.dq) : 0),
            .tiled = tiled};
}

}  // namespace

double score_bytes(const Shard& s, bool local) {
    return all_scores(s, seen_by_chip(s, local));
}

Compute attention_forward(const Shard& s, bool local) {
    return attention_forward(s, seen_by_chip(s, local));
}

Compute attention_backward(const Shard& s, bool local) {
    return attention_backward(s, seen_by_chip(s, local));
}

Compute attention_forward(const Shard& s, const Seen& seen) {
    return forward_over(s, seen);
}

Compute attention_backward(const Shard& s, const Seen& seen) {
    return backward_over(s, seen);
}

Compute attention_forward_to(const Shard& s, int block) {
    return forward_over(s, seen_of_block(s, block));
}

Compute attention_backward_to(const Shard& s, int block) {
    return backward_over(s, seen_of_block(s, block));
}

Compute attention_forward_part(const Shard& s, std::span<const PiecePair> pairs, bool first) {
    return forward_over(s, seen_of_pieces(s, pairs, first));
}

Compute attention_backward_part(const Shard& s, std::span<const PiecePair> pairs, bool first) {
    return backward_over(s, seen_of_pieces(s, pairs, first));
}

Compute out_forward(const Shard& s) {
    return activations(s, s.block_columns(s.attended_width()), s.block_rows());
}

Compute out_input_gradient(const Shard& s) {
    return activations(s, s.block_rows(), s.block_columns(s.attended_width()), {},
                       backward_of(s, Matrix::out));
}

Compute out_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.block_columns(s.attended_width()), s.block_rows(), {},
                           backward_of(s, Matrix::out));
}

}  // namespace podsim::workloads
