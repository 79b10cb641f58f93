// Experts that the rows of a step meet, and the tiles in which a serving engine's grouped
// matmul computes them.
//
// Experts met. Each of t tokens takes k of E experts; all choices are equally likely, and tokens
// are independent. A token takes one given expert with chance p = k / E, so none of t tokens does
// with chance (1 - p)^t. On average a chip with e = E / ways experts has
//   reached = e (1 - (1 - k / E)^t)
// of them met, and their matrices are read: k for one token, e for many. t counts the tokens of
// all ways whose rows can reach the chip. If a chip's experts get more than their fraction, p is
// larger in proportion.
//
// Tiles of gmm_v2, `rows` rows of `groups` groups, k x n matrices:
//   m = 128 a / b, at most all rows   a: 16 / bits of the rows' elements, b: of the matrices',
//                                     each at most 2
//   n, k                              whole while three tiles k x n of matrices fit into 90 % of
//                                     VMEM; otherwise n is cut evenly into whole lanes, down to 256
//                                     columns, then k
//   visits = groups max(1, rows / (groups m) + 1 / 2)
// A group begins a tile of its own, and ends anywhere in its last tile, which is half full on
// average. Grid (n, visits, k): only the rows of a group are fetched, for each tile of n; matrices
// k n are fetched for each group or, with several tiles of k, for each visit.
// Source: vllm-project/tpu-inference, kernels/megablox/gmm_v2.py, and sgl-project/sglang-jax,
// kernels/gmm/.../gmm_v2.py (calculate_tiling, fill_metadata, generate_block_specs). The sublanes
// before a group's first row are left out.
#pragma once

#include "workloads/work/grouped_tiles.h"

namespace podsim::workloads {

/// Returns at most `trials` and at least their mean; for a single way the mean itself. The result
/// is linear between whole numbers of trials.
double fullest_of(double ways, double trials, double chance);

/// Returns how many of `groups` at least one of `tokens` tokens takes on average, if a token takes
/// each with `chance`. The result is linear between whole numbers of tokens. With several ways of
/// `groups` groups each, it is that of the fullest.
double reached_groups(double tokens, double chance, double groups, double ways = 1);

/// Operands of a kernel: bytes per element of rows and of matrices, and VMEM of a core.
struct ServedOperands {
    double row = 2;
    double matrix = 2;
    double vmem = 0;
};
ExpertTile served_tile(double k, double n, const ServedOperands& operands);

/// Returns the tiles; empty without rows. `groups` may be a mean.
GroupedTiles served_tiles(double rows, double groups, double k, double n, const ExpertTile& tile);

}  // namespace podsim::workloads
