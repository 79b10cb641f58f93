// How many scores a flash-attention kernel computes that works in blocks: a block is left out when the mask leaves none of its
// scores, and is computed whole otherwise.
//
// Over n queries and as many keys with blocks of b, causal: (n/b)(n/b + 1)/2 blocks, (n/b + 1) / (2 n/b) of the square.
// Source: splash_attention_kernel.py and splash_attention_mask_info.py of JAX (block_mask 0, 1, 2; a grid shrunk to the blocks
// that are not empty); block_kv_compute only cuts the inner loop of a block.
#pragma once

#include "workloads/plan/attention_blocks.h"

namespace podsim::workloads {

/// Queries [query, query + queries) and keys [key, key + keys) of a sequence, and what of their scores a mask leaves.
struct ScoreArea {
    double query = 0;
    double queries = 0;
    double key = 0;
    double keys = 0;
    bool causal = true;  ///< keys up to the query's own and `ahead` behind it; otherwise all
    double window =
        0;  ///< causal: of those from `window` before it (LocalMask((window, ahead), ...)); 0: all
    double ahead = 0;
};

/// Scores that are computed, in blocks from the area's corner of at most its own sides; the last blocks count whole. Exact
/// for whole sizes below 2^40.
double computed_scores(const ScoreArea& area, const ScoreBlock& block);

}  // namespace podsim::workloads
