// Counts of one chip's self-attention: query-key pairs, scores that kernels compute, and elements
// that they read. The equations are in attention_work.h.
#pragma once

#include <span>

#include "workloads/plan/plan.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {

// Number of scores that a flash-attention kernel computes in blocks. A block is skipped if the mask
// leaves none of its scores, and is computed whole otherwise.
//
// Over n queries and as many keys with blocks of b, causal: (n/b)(n/b + 1)/2 blocks, (n/b + 1) / (2
// n/b) of the square.
// Source: splash_attention_kernel.py and splash_attention_mask_info.py of JAX (block_mask 0,
// 1, 2; a grid shrunk to the blocks that are not empty); block_kv_compute only cuts the
// inner loop of a block.

/// Queries [query, query + queries) and keys [key, key + keys) of a sequence, and the scores
/// that a mask leaves.
struct ScoreArea {
    double query = 0;
    double queries = 0;
    double key = 0;
    double keys = 0;
    /// True: keys up to the query's own and `ahead` behind it; false: all keys.
    bool causal = true;
    /// If causal: only keys from `window` before the query (LocalMask((window, ahead),
    /// ...)). 0: all keys.
    double window = 0;
    double ahead = 0;
};

/// Returns the number of computed scores. Blocks start at the corner of the area and are at most as
/// long as its sides; the last blocks count whole. The result is exact for whole sizes below 2^40.
double computed_scores(const ScoreArea& area, const ScoreBlock& block);

/// A segment of the chip's queries and a segment of a causal sequence's keys, by
/// index (window_ring.h).
struct PiecePair {
    int query = 0;
    int key = 0;
    friend bool operator==(const PiecePair&, const PiecePair&) = default;
};

/// Work of a kernel that computes in blocks, for one head of
/// this chip's sequences.
struct InBlocks {
    double scores = 0;   ///< computed
    double queries = 0;  ///< fetched by blocks of keys
    double keys = 0;     ///< fetched by blocks of queries
    double all = 0;      ///< queries for each block of keys, whatever the mask
    double steps = 0;    ///< blocks computed
};

/// Counts of one attention operation of a chip.
struct Seen {
    /// Query-key pairs of one head over this chip's sequences.
    double pairs = 0;
    double keys = 0;     ///< columns of the scores
    double queries = 0;  ///< rows of the scores of one sequence
    /// How often keys and values of whole sequences are read.
    double passes = 0;
    /// Fraction of keys and values that the queries see.
    double touched = 1;
    /// Fraction of their gradients that is written as zeros because no query sees it.
    double zeroed = 0;
    /// True for the first of the operations that together make the rank's dot products.
    bool first = true;
    /// Fraction of the chip's queries that the operation works on.
    double share = 1;
    /// True if it reads partial outputs, or partial gradients of queries, again.
    bool again = false;
    /// Kernels with AttentionBlocks; zero without blocks.
    InBlocks forward{};
    InBlocks dkv{};
    InBlocks dq{};
};
/// Returns the counts for all queries of the chip. With zig-zag placement and a window they are
/// those of the chip that works most.
Seen seen_by_chip(const Shard& shard, bool local);
/// With plain placement: returns the counts against one block of keys, the chip's own
/// or an earlier one.
Seen seen_of_block(const Shard& shard, int block);
/// With a window: returns the counts of these pairs of segments. `first`: the first such
/// operation of the rank.
Seen seen_of_pieces(const Shard& shard, std::span<const PiecePair> pairs, bool first);

/// Keys of a block if the plan sets no blocks.
constexpr double kKeyBlock = 512;
/// Returns the query rows that one core processes at a time if no blocks are set: the largest power
/// of two whose queries, output sums and scores against one block of keys fill at most half of the
/// core's VMEM. Sums and scores have 4-byte elements.
double query_block_rows(const Shard& shard);
/// Returns how often attention without blocks reads the keys and values of whole sequences. This is
/// a fraction if it skips masked ones.
double key_value_passes(const Shard& shard, bool local);
/// Returns the elements of keys and values that attention reads, those of the heads that
/// its query heads use.
double kv_read(const Shard& shard);
/// Returns the number of key blocks of these heads if the plan sets no blocks.
double key_blocks(const Shard& shard);

}  // namespace podsim::workloads
