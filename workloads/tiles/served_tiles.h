// Which experts the rows of a step meet, and the tiles in which a serving engine's grouped matmul computes them.
//
// Experts met. t tokens take k of E experts each, all choices alike and tokens apart from each other. One expert is
// taken by a token with chance p = k / E, so by none of t with (1 - p)^t. Of the e = E / ways experts of a chip
//   reached = e (1 - (1 - k / E)^t)
// are met in the mean, whose matrices are read: k of one token, e of many. t counts the tokens of all ways whose rows may come to
// the chip. Where a chip's experts get more than their share, p is larger by as much.
//
// Tiles of gmm_v2, `rows` rows of `groups` groups, k x n matrices:
//   m = 128 a / b, at most all rows   a: 16 / bits of the rows' elements, b: of the matrices', each at most 2
//   n, k                              whole while three tiles k x n of matrices fit into 90 % of VMEM; otherwise n in equal parts of
//                                     whole lanes down to 256 columns, then k
//   visits = groups max(1, rows / (groups m) + 1 / 2)
// A group begins a tile of its own, and ends anywhere in its last, which is half full in the mean. Grid (n, visits, k): the rows of a
// group alone are fetched, for each tile of n; matrices k n for each group, or with several tiles of k for each visit.
// Source: vllm-project/tpu-inference, kernels/megablox/gmm_v2.py, and sgl-project/sglang-jax, kernels/gmm/.../gmm_v2.py
// (calculate_tiling, fill_metadata, generate_block_specs). Left out: the sublanes before a group's first row.
#pragma once

#include "workloads/tiles/grouped_tiles.h"

namespace podsim::workloads {

/// Of `groups` that a token takes with chance p each: those that at least one of so many tokens takes, in the mean. Linear
/// between whole numbers of tokens. Of several ways with so many groups each: of the fullest (fullest_way.h).
double reached_groups(double tokens, double chance, double groups, double ways = 1);

/// What a kernel multiplies: bytes of an element of rows and of matrices, and VMEM of a core.
struct ServedOperands {
    double row = 2;
    double matrix = 2;
    double vmem = 0;
};
ExpertTile served_tile(double k, double n, const ServedOperands& operands);

/// `groups` may be a mean. Nothing without rows.
GroupedTiles served_tiles(double rows, double groups, double k, double n, const ExpertTile& tile);

}  // namespace podsim::workloads
