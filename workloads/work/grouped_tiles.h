// Tiles of a grouped matmul (megablox): which tiles are computed, and what they move
// between HBM and VMEM.
//
// `rows` rows, sorted by group, are each multiplied by the k x n matrix of their group, in tiles
// of at most m x k x n. A tile of rows in which a group ends is computed whole for each group
// that has rows in it, with the others' rows masked. Groups of a random routing end inside of
// tiles. With G groups
//   visits = ceil(rows / m) + G - 1          tiles of rows computed; the rows are a multiple of m
// The last tiles of the other dimensions are computed whole too:
//   2 visits m ceil(k / tile) tile ceil(n / tile) tile FLOPs
// In the backward pass k and n of the forward pass are exchanged, but not the tiles. A
// block is fetched if its position differs from that in the previous grid step. Grid (n,
// visits, k) of `gmm`:
//   rows       visits m k for each tile of n; with one tile of k only ceil(rows / m) m k
//   matrices   visits k n; with one tile of k only G k n
//   results    rows n, once
// Grid (n, k, visits) of `tgmm`, the gradient of the matrices:
//   rows       ceil(rows / m) m (k for each tile of n + n for each tile of k)
//   results    G k n, once
// Pallas fetches the blocks of the next grid step while it computes one. A step takes as long as
// the longer of its tile and the concurrent moves: a new tile of rows (and the results of the
// last), a new group's matrix, or both. If tiles of k do not divide k, the excess is masked in the
// whole blocks of the last tile.
// Source: kernels/megablox/gmm.py of MaxText (make_group_metadata, mask_k_rem; the grids and index
// maps of gmm and tgmm), Pallas for the fetches.
#pragma once

#include <vector>

#include "workloads/plan/expert_matmul.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Equal steps of a grid, and the elements that are moved and masked during each.
struct GridStep {
    double count = 0;
    double rows = 0;
    double matrices = 0;
    double results = 0;
    double masked = 0;
};

struct GroupedTiles {
    double visits = 0;
    double computed_of_group = 0;  ///< rows: visits m / groups, for groups with rows
    double computed_k = 0;         ///< k and n, rounded up to whole tiles
    double computed_n = 0;
    double tiles_of_n = 1;
    /// Shape of a step: m rows; in tgmm k rows of the matrices, rows, n.
    MatmulShape tile{};
    double rows = 0;      ///< elements of rows that are fetched
    double matrices = 0;  ///< elements of the groups' matrices: fetched by gmm, written by tgmm
    double results = 0;   ///< elements of gmm's results
    /// Steps of gmm and tgmm. They move the elements above, except for the filling of a last tile
    /// of rows, and for groups without rows.
    std::vector<GridStep> steps;
};

/// Returns the tiles of rows x k by each group's k x n; empty without rows.
GroupedTiles gmm_tiles(double rows, double groups, double k, double n, const ExpertTile& tile);
/// Returns the tiles of each group's rows of k, transposed, by the same rows of n: k x n. Without
/// rows zeros are written.
GroupedTiles tgmm_tiles(double rows, double groups, double k, double n, const ExpertTile& tile);

/// Returns the tiles of all `devices` together, each of which has `tiles`.
GroupedTiles on_devices(GroupedTiles tiles, double devices);

/// Returns how many of `groups` equal groups have rows.
double groups_with(double rows, double groups);

}  // namespace podsim::workloads
