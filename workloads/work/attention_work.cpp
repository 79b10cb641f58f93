#include "workloads/work/attention_work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {
namespace {

using namespace vector_unit;
using sim::Bytes;
using sim::Flops;

/// What a chip's queries have to do with keys.
struct Seen {
    double pairs = 0;    ///< of query and key, of one head of this chip's sequences
    double keys = 0;     ///< columns of its scores
    double queries = 0;  ///< rows of them, of a sequence
    double passes = 0;   ///< times that keys and values of whole sequences are read
    double touched = 1;  ///< share of keys and values that queries see
    double zeroed = 0;   ///< share of their gradients that is written though no query sees them
    bool first = true;   ///< part of its dot products
    double share = 1;    ///< of the chip's queries, that it works on
    bool again = false;  ///< reads what is there of outputs, or of queries' gradients
};

/// Queries before x have, together, this many keys in a window of `seen`.
double pairs_before(double x, double seen) {
    return x < seen ? x * x / 2 : seen * seen / 2 + (x - seen) * seen;
}

/// Pairs of query and key of one head of this chip's sequences; with a window and zig-zag placement, of
/// the chip that has the most.
double attention_pairs_of_chip(const Shard& s, bool local) {
    const double seen = local && s.window > 0 ? std::min(s.window, s.sequence) : s.sequence;
    if (!s.causal) {
        return s.sequences * s.sequence * seen / s.context;
    }
    if ((seen == s.sequence && !s.plain) || s.context == 1) {
        return s.sequences * (s.sequence * seen - seen * seen / 2) / s.context;
    }
    const auto before = [&](double x) { return pairs_before(x, seen); };
    if (s.plain) {
        const double block = s.sequence / s.context;
        return s.sequences * (before((s.rank + 1) * block) - before(s.rank * block));
    }
    const double piece = s.sequence / (2 * s.context);
    const auto piece_pairs = [&](double i) { return before((i + 1) * piece) - before(i * piece); };
    double most = 0;
    for (double chip = 0; chip < s.context; ++chip) {
        most = std::max(most, piece_pairs(chip) + piece_pairs(2 * s.context - 1 - chip));
    }
    return s.sequences * most;
}

/// Elements of the keys and values that attention reads: of the heads that its query heads use.
double kv_read(const Shard& s) {
    const double heads = s.kv_split_by_columns ? std::ceil(s.kv_heads) : s.kv_heads;
    return s.tokens * s.context * heads * (s.head_dim + s.value_dim);
}

/// Queries of one head that share a block: the heads that share keys and values are rows of one block.
double queries_of_block(const Shard& s) {
    const double kv_heads = s.kv_split_by_columns ? std::ceil(s.kv_heads) : s.kv_heads;
    return std::max(1.0, std::floor(query_block_rows(s) * kv_heads / s.heads));
}

}  // namespace

double query_block_rows(const Shard& s) {
    constexpr double kKeyBlock = 512;
    constexpr double kFewest = 8;
    constexpr double kMost = 1L << 40;
    const double row = s.head_dim * s.precision.compute + s.value_dim * 4 + kKeyBlock * 4;
    const double rows = std::clamp(s.vmem / 2 / row, kFewest, kMost);
    return static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(rows)));
}

double key_value_passes(const Shard& s, bool local) {
    const double pieces = s.causal && s.context > 1 && !s.plain ? 2 : 1;
    const double piece = s.sequence / (s.context * pieces);
    const double block = std::min(piece, queries_of_block(s));
    const double blocks = std::ceil(piece / block);
    const bool all = !local || s.window == 0 || s.window >= s.sequence;
    if (all && !s.plain) {
        return s.causal ? (pieces * blocks + 1 / s.context) / 2 : blocks;
    }
    const auto keys_of_piece = [&](double begin) {
        double keys = 0;
        for (double from = 0; from < piece; from += block) {
            const double queries = std::min(block, piece - from);
            const double seen = s.causal ? begin + from + queries : s.sequence;
            keys += all ? seen : std::min(seen, s.window + queries);
        }
        return keys / s.sequence;
    };
    if (pieces == 1) {
        return keys_of_piece(s.rank * piece);
    }
    double most = 0;
    for (double chip = 0; chip < s.context; ++chip) {
        most = std::max(
            most, keys_of_piece(chip * piece) + keys_of_piece((2 * s.context - 1 - chip) * piece));
    }
    return most;
}

namespace {

/// Columns of the up projection of keys and values: the rope columns of a key are no head's own.
double kv_up_columns(const Shard& s) {
    return s.heads * (s.head_dim - s.latent.rope_dim + s.value_dim);
}

}  // namespace

Compute latent_forward(const Shard& s) {
    return activations(s, s.d_model, s.latent.columns(), norm_and_residual(s));
}

Compute latent_input_gradient(const Shard& s) {
    return activations(s, s.latent.columns(), s.d_model, norm_and_residual_gradient(s));
}

Compute latent_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.d_model, s.latent.columns(),
                           normed_again(s, s.attention_norms_again));
}

Compute qkv_forward(const Shard& s) {
    if (s.latent.width == 0) {
        return activations(s, s.block_rows(), s.block_columns(s.qkv_width()),
                           norm_and_residual(s) + query_key(s));
    }
    const Compute keys =
        activations(s, s.latent.kv_rank, kv_up_columns(s), latent_norm(s) + query_key(s));
    return s.latent.q_rank == 0 ? keys
                                : both(activations(s, s.latent.q_rank, s.heads * s.head_dim), keys);
}

Compute qkv_input_gradient(const Shard& s) {
    if (s.latent.width == 0) {
        return activations(s, s.block_columns(s.qkv_width()), s.block_rows(),
                           norm_and_residual_gradient(s) + query_key_gradient(s));
    }
    const Compute keys = activations(s, kv_up_columns(s), s.latent.kv_rank,
                                     latent_norm_gradient(s) + query_key_gradient(s));
    return s.latent.q_rank == 0 ? keys
                                : both(activations(s, s.heads * s.head_dim, s.latent.q_rank), keys);
}

Compute qkv_weight_gradient(const Shard& s) {
    if (s.latent.width == 0) {
        return weight_gradient(s, s.block_rows(), s.block_columns(s.qkv_width()),
                               normed_again(s, s.attention_norms_again));
    }
    const Compute keys = weight_gradient(s, s.latent.kv_rank, kv_up_columns(s));
    return s.latent.q_rank == 0
               ? keys
               : both(weight_gradient(s, s.latent.q_rank, s.heads * s.head_dim), keys);
}

namespace {

Seen seen_by_chip(const Shard& s, bool local) {
    const double block = s.sequence / s.context;
    const double all = s.plain ? block * (s.rank + 1) : s.sequence;
    const bool window = local && s.window > 0;
    const double keys = window ? std::min(s.window, all) : all;
    const double touched = window ? std::min(s.window + block, all) : all;
    const double seen = s.plain ? touched / s.sequence : 1;
    return {attention_pairs_of_chip(s, local), keys, block,
            key_value_passes(s, local),        seen, 1 - seen};
}

/// Of one block of keys, the chip's own or an earlier one.
Seen seen_of_block(const Shard& s, int block) {
    const double keys = s.sequence / s.context;
    const bool own = block == s.rank;
    const double reads = std::ceil(keys / std::min(keys, queries_of_block(s)));
    return {s.sequences * keys * keys / (own ? 2 : 1),
            keys,
            keys,
            (own ? (reads + 1) / 2 : reads) / s.context,
            1 / s.context,
            0,
            own};
}

/// Pairs of query and key of two pieces (window_ring.h).
double pairs_of_pieces(const Shard& s, PiecePair pair) {
    const double q = s.piece();
    const int reach = s.reach();
    const auto area = [&](double u) {
        return u <= -q  ? 0
               : u <= 0 ? (q + u) * (q + u) / 2
                        : q * q - (u < q ? (q - u) * (q - u) / 2 : 0);
    };
    const auto at_distance = [&](int d) { return area(s.window - d * q) - area(-d * q); };
    const int distance = pair.query - pair.key;
    if (distance < reach) {
        return at_distance(distance);
    }
    double left =
        pairs_before((pair.query + 1) * q, s.window) - pairs_before(pair.query * q, s.window);
    for (int d = 0; d < reach; ++d) {
        left -= at_distance(d);
    }
    return left;
}

Seen seen_of_pieces(const Shard& s, std::span<const PiecePair> pairs, bool first) {
    const double q = s.piece();
    const double block = std::min(q, queries_of_block(s));
    Seen seen{
        .keys = std::min(q, s.window), .queries = q, .touched = 0, .first = first, .again = !first};
    std::map<int, double> touched;  // keys of a piece that a query sees
    std::set<int> queries;
    for (const PiecePair& pair : pairs) {
        seen.pairs += s.sequences * pairs_of_pieces(s, pair);
        queries.insert(pair.query);
        const double least = pair.key * q;
        for (double from = 0; from < q; from += block) {
            const double rows = std::min(block, q - from);
            const double end = pair.query * q + from + rows;
            const double begin = std::max(least, end - s.window - rows);
            const double keys = std::max(0.0, std::min(end, least + q) - begin);
            seen.passes += keys / s.sequence;
        }
        double& most = touched[pair.key];
        most = std::max(most, std::min(q, (pair.key + 1) * q - (pair.query * q - s.window)));
    }
    for (const auto& [key, keys] : touched) {
        seen.touched += keys / s.sequence;
        seen.zeroed += (q - keys) / s.sequence;
    }
    seen.share = static_cast<double>(queries.size()) / s.pieces_of_rank();
    return seen;
}

Compute forward_over(const Shard& s, const Seen& seen) {
    const double queries = seen.queries;
    const double again = seen.again ? s.value_dim : 0;
    const double count = s.sequences * s.heads;
    const double scores = s.heads * seen.pairs;
    return {Flops(2 * (s.head_dim + s.value_dim) * scores),
            {{queries, s.head_dim, seen.keys, count}, {queries, seen.keys, s.value_dim, count}},
            Bytes((s.tokens * seen.share * s.heads * (s.head_dim + s.value_dim + again) +
                   kv_read(s) * seen.passes) *
                  s.precision.compute),
            Flops(scores * kSoftmax),
            MatmulDtype::bf16,
            true};
}

/// How often the backward pass makes scores, and their gradient dP, beyond the reference text's count.
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

/// Elements that go through HBM. One kernel: queries, outputs, their gradients once; each block of queries reads keys
/// and values and adds to their gradients, which the first writes. Two: outputs and their gradients once for D; queries
/// and gradients by the kernel of queries, whose blocks read keys and values; keys and values once by the other, whose
/// blocks of keys, as many rows as the heads of a block of queries share, read queries and gradients.
double moved_backward(const Shard& s, const Seen& seen) {
    const double rows = s.tokens * seen.share * s.heads;
    const double again = seen.again ? s.head_dim : 0;
    if (s.attention_backward == BackwardKernels::split) {
        return rows * (2 * s.head_dim + 3 * s.value_dim + again) +
               kv_read(s) * (2 * seen.passes + 2 * seen.touched + seen.zeroed);
    }
    return rows * (2 * (s.head_dim + s.value_dim) + again) +
           kv_read(s) * (3 * seen.passes - seen.touched + seen.zeroed);
}

// dV = P^T dO, dP = dO V^T, dQ = dP K, dK = dP^T Q, and P once more from Q K^T.
Compute backward_over(const Shard& s, const Seen& seen) {
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
    const double kernels = s.attention_backward == BackwardKernels::split ? 2 : 1;
    const double outputs = seen.first ? s.tokens * s.attended_width() * kOutputDot : 0;
    return {
        Flops(2 * scores * ((2 + again.scores) * s.head_dim + (2 + again.gradients) * s.value_dim)),
        std::move(matmuls),
        Bytes(moved_backward(s, seen) * s.precision.compute),
        Flops(scores * kernels * kSoftmaxBackward + outputs),
        MatmulDtype::bf16,
        true};
}

}  // namespace

Compute attention_forward(const Shard& s, bool local) {
    return forward_over(s, seen_by_chip(s, local));
}

Compute attention_backward(const Shard& s, bool local) {
    return backward_over(s, seen_by_chip(s, local));
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
    return activations(s, s.block_rows(), s.block_columns(s.attended_width()));
}

Compute out_weight_gradient(const Shard& s) {
    return weight_gradient(s, s.block_columns(s.attended_width()), s.block_rows());
}

}  // namespace podsim::workloads
