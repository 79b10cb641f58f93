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

// Expected count of the fullest of several ways, if items fall to each way by chance.
//
// Ways that hold whole experts wait for each other behind every layer, so that a step takes as long
// as the fullest of them. Let each of `ways` counts be binomial with n trials of chance p,
// independent of each other. The mean of the largest is
//   sum over j >= 1 of 1 - P(count < j)^ways
// It is exact if the variance is below 9. Beyond that the counts are taken as normal: n p + c(ways)
// sqrt(n p (1 - p)), where c is the mean of the largest of `ways` normal numbers. Counts of ways
// that share their items are not quite independent, nor are the experts of one token. Take 8 ways
// with 16 experts each, of which a token takes 8. Here the largest way has 2.6, 6.0 and 13.0 of its
// experts met by 1, 4 and 16 tokens; draws give 2.55, 6.16 and 12.9.

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
