#include "workloads/work/attention_seen.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace podsim::workloads {
namespace {

/// Returns the sum of floor((a i + b) / m) over i = 0 .. n - 1, for whole a, b >= 0. It takes as
/// many iterations as Euclid's algorithm for a and m.
double sum_of_floors(double n, double m, double a, double b) {
    double sum = 0;
    while (n > 0) {
        sum += n * (n - 1) / 2 * std::floor(a / m) + n * std::floor(b / m);
        a = std::fmod(a, m);
        b = std::fmod(b, m);
        const double top = a * n + b;
        if (top < m) {
            break;
        }
        n = std::floor(top / m);
        b = std::fmod(top, m);
        std::swap(a, m);
    }
    return sum;
}

/// Rows of blocks whose first (or last) query is `first`, and q more for each further row. Keys are
/// counted from the first of the area.
struct Rows {
    double first = 0;
    double step = 0;

    /// Returns how many of `count` rows are below x.
    [[nodiscard]] double below(double x, double count) const {
        return std::clamp(std::ceil((x - first) / step), 0.0, count);
    }
    /// Returns the sum over rows [from, to) of the index of the block of keys that has
    /// min(max(row, 0), last).
    [[nodiscard]] double blocks(double from, double to, double last, double kv) const {
        const double zero = std::clamp(below(0, to), from, to);
        const double inside = std::clamp(below(last, to), zero, to);
        return sum_of_floors(inside - zero, kv, step, std::max(first + zero * step, 0.0)) +
               (to - inside) * std::floor(last / kv);
    }
};

/// Returns the computed blocks in `count` rows of blocks. The last query of each row is
/// `q - 1` behind its first.
double visited(const ScoreArea& area, double from, double count, double q, double kv) {
    const double last = area.keys - 1;
    if (!area.causal) {
        return count * (std::floor(last / kv) + 1);
    }
    const Rows lowest{from - area.key - area.window, q};
    const Rows highest{from - area.key + q - 1 + area.ahead, q};
    const double begin = highest.below(0, count);
    const double end = area.window > 0 ? lowest.below(area.keys, count) : count;
    if (end <= begin) {
        return 0;
    }
    const double skipped = area.window > 0 ? lowest.blocks(begin, end, last, kv) : 0;
    return highest.blocks(begin, end, last, kv) - skipped + (end - begin);
}

/// Returns how many keys all queries before x see together in a window of `seen`.
double pairs_before(double x, double seen) {
    return x < seen ? x * x / 2 : seen * seen / 2 + (x - seen) * seen;
}

/// Returns the query-key pairs of one head over this chip's sequences. With a window and zig-zag
/// placement they are those of the chip that has most.
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

/// Returns the queries of one head in a block. The heads that share keys and values are
/// rows of one block.
double queries_of_block(const Shard& s) {
    const double kv_heads = s.kv_split_by_columns ? std::ceil(s.kv_heads) : s.kv_heads;
    return std::max(1.0, std::floor(query_block_rows(s) * kv_heads / s.heads));
}

/// The forward kernel, the kernel of keys' gradients and the kernel of queries' gradients.
using Kernels = std::array<InBlocks, 3>;

InBlocks in_blocks(const ScoreArea& area, const ScoreBlock& block, double sequences) {
    const double scores = sequences * computed_scores(area, block);
    const double q = std::min(block.q, area.queries);
    const double kv = std::min(block.kv, area.keys);
    return {scores, scores / kv, scores / q,
            sequences * area.queries * std::ceil(area.keys / block.kv), scores / (q * kv)};
}

Kernels kernels_over(const AttentionBlocks& blocks, const ScoreArea& area, double sequences) {
    if (!blocks.any()) {
        return {};
    }
    return {in_blocks(area, blocks.forward, sequences), in_blocks(area, blocks.dkv, sequences),
            in_blocks(area, blocks.dq, sequences)};
}

template <class Of>
Kernels each(const Kernels& a, const Kernels& b, Of of) {
    Kernels all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = {of(a[i].scores, b[i].scores), of(a[i].queries, b[i].queries),
                  of(a[i].keys, b[i].keys), of(a[i].all, b[i].all), of(a[i].steps, b[i].steps)};
    }
    return all;
}

Kernels sum(const Kernels& a, const Kernels& b) {
    return each(a, b, [](double x, double y) { return x + y; });
}

Kernels larger(const Kernels& a, const Kernels& b) {
    return each(a, b, [](double x, double y) { return std::max(x, y); });
}

void put(Seen& seen, const Kernels& kernels) {
    seen.forward = kernels[0];
    seen.dkv = kernels[1];
    seen.dq = kernels[2];
}

/// Returns the work of all queries of the chip with all keys. With zig-zag placement it is that of
/// the chip that computes most.
Kernels kernels_of_chip(const Shard& s, bool local) {
    if (!s.attention_blocks.any()) {
        return {};
    }
    // Without a causal mask a query sees its window on both sides.
    const bool both_sides = !s.causal && local && s.window > 0 && s.window < s.sequence;
    const double before = both_sides ? std::floor(s.window / 2) : s.window;
    const auto of_piece = [&](double begin, double queries) {
        return kernels_over(s.attention_blocks,
                            {.query = begin,
                             .queries = queries,
                             .keys = s.sequence,
                             .causal = s.causal || both_sides,
                             .window = local && (s.causal || both_sides) ? before : 0,
                             .ahead = both_sides ? s.window - before - 1 : 0},
                            s.sequences);
    };
    if (s.plain || !s.causal || s.context == 1) {
        const double block = s.sequence / s.context;
        return of_piece(s.rank * block, block);
    }
    const double piece = s.piece();
    Kernels most;
    for (double chip = 0; chip < s.context; ++chip) {
        most = larger(most, sum(of_piece(chip * piece, piece),
                                of_piece((2 * s.context - 1 - chip) * piece, piece)));
    }
    return most;
}

/// Returns the query-key pairs of two segments (window_ring.h).
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

}  // namespace

double computed_scores(const ScoreArea& area, const ScoreBlock& block) {
    const double q = std::min(block.q, area.queries);
    const double kv = std::min(block.kv, area.keys);
    const double whole = std::floor(area.queries / q);
    const double rest = area.queries - whole * q;
    double blocks = visited(area, area.query, whole, q, kv);
    if (rest > 0) {
        blocks += visited(area, area.query + whole * q, 1, rest, kv);
    }
    return blocks * q * kv;
}

double kv_read(const Shard& s) {
    return key_blocks(s) * kKeyBlock * (s.head_dim + s.value_dim);
}

double key_blocks(const Shard& s) {
    const double heads = s.kv_split_by_columns ? std::ceil(s.kv_heads) : s.kv_heads;
    return s.tokens * s.context * heads / kKeyBlock;
}

double query_block_rows(const Shard& s) {
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

Seen seen_by_chip(const Shard& s, bool local) {
    const double block = s.sequence / s.context;
    const double all = s.plain ? block * (s.rank + 1) : s.sequence;
    const bool window = local && s.window > 0;
    const double keys = window ? std::min(s.window, all) : all;
    const double touched = window ? std::min(s.window + block, all) : all;
    const double seen = s.plain ? touched / s.sequence : 1;
    Seen all_of_it{.pairs = attention_pairs_of_chip(s, local),
                   .keys = keys,
                   .queries = block,
                   .passes = key_value_passes(s, local),
                   .touched = seen,
                   .zeroed = 1 - seen};
    put(all_of_it, kernels_of_chip(s, local));
    return all_of_it;
}

Seen seen_of_block(const Shard& s, int block) {
    const double keys = s.sequence / s.context;
    const bool own = block == s.rank;
    const double reads = std::ceil(keys / std::min(keys, queries_of_block(s)));
    Seen seen{.pairs = s.sequences * keys * keys / (own ? 2 : 1),
              .keys = keys,
              .queries = keys,
              .passes = (own ? (reads + 1) / 2 : reads) / s.context,
              .touched = 1 / s.context,
              .first = own};
    put(seen,
        kernels_over(s.attention_blocks, {s.rank * keys, keys, block * keys, keys}, s.sequences));
    return seen;
}

Seen seen_of_pieces(const Shard& s, std::span<const PiecePair> pairs, bool first) {
    const double q = s.piece();
    const double block = std::min(q, queries_of_block(s));
    Seen seen{
        .keys = std::min(q, s.window), .queries = q, .touched = 0, .first = first, .again = !first};
    // Keys of a segment that a query sees.
    std::map<int, double> touched;
    std::set<int> queries;
    Kernels kernels;
    for (const PiecePair& pair : pairs) {
        seen.pairs += s.sequences * pairs_of_pieces(s, pair);
        queries.insert(pair.query);
        kernels = sum(kernels, kernels_over(s.attention_blocks,
                                            {pair.query * q, q, pair.key * q, q, true, s.window},
                                            s.sequences));
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
    put(seen, kernels);
    seen.share = static_cast<double>(queries.size()) / s.pieces_of_rank();
    return seen;
}

}  // namespace podsim::workloads
