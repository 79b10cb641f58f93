// Pairs of query and key of a chip, scores that kernels compute, and what they read (equations: attention_work.h).
#pragma once

#include <span>

#include "workloads/shards/shard.h"

namespace podsim::workloads {

/// Of the chip's own pieces of a causal sequence and keys (window_ring.h).
struct PiecePair {
    int query = 0;
    int key = 0;
    friend bool operator==(const PiecePair&, const PiecePair&) = default;
};

/// What a kernel that works in blocks (tiles/score_blocks.h) does, of one head of this chip's sequences.
struct InBlocks {
    double scores = 0;   ///< that are computed
    double queries = 0;  ///< that blocks of keys fetch
    double keys = 0;     ///< that blocks of queries fetch
    double all = 0;      ///< queries for each block of keys, whatever the mask
    double steps = 0;    ///< blocks that are computed
};

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
    InBlocks forward{};  ///< by AttentionBlocks; nothing without blocks
    InBlocks dkv{};
    InBlocks dq{};
};
/// Of all its queries; with zig-zag placement and a window, of the chip that works most.
Seen seen_by_chip(const Shard& shard, bool local);
/// With plain placement: of one block of keys, the chip's own or an earlier one.
Seen seen_of_block(const Shard& shard, int block);
/// With a window: of those pieces of queries and keys. `first`: of the rank's parts.
Seen seen_of_pieces(const Shard& shard, std::span<const PiecePair> pairs, bool first);

/// Keys of a block where no blocks are set.
constexpr double kKeyBlock = 512;
/// Rows of queries that one core of attention works on at a time where no blocks are set: the largest power of two of which
/// query, sum of the output and scores against one block of keys (4-byte elements but for the query) fill at most half of its VMEM.
double query_block_rows(const Shard& shard);
/// How often attention without blocks reads the keys and values of whole sequences (a fraction where it skips masked ones).
double key_value_passes(const Shard& shard, bool local);
/// Elements of the keys and values that attention reads: of the heads that its query heads use.
double kv_read(const Shard& shard);
/// Blocks of keys of these heads, where no others are set.
double key_blocks(const Shard& shard);

}  // namespace podsim::workloads
