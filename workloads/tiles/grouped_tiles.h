// Tiles of a grouped matmul (megablox): which are computed, and what they move between HBM and VMEM.
//
// `rows` rows, sorted by group, each times its group's k x n matrix, in tiles of at most m x k x n. A tile of rows in which a
// group ends is computed whole for each group that has rows in it, the others' rows masked. Groups of a random routing
// end inside of tiles, so that of G groups
//   visits = ceil(rows / m) + G - 1          tiles of rows that are computed; a multiple of m rows are there
// The last tiles of the other dimensions are computed whole too: 2 visits m ceil(k / tile) tile ceil(n / tile) tile FLOPs. (In the backward pass k and n of the forward pass change places, not the tiles.)
// A block is fetched when its place differs from that of the grid's step before. Grid (n, visits, k) of `gmm`:
//   rows       visits m k for each tile of n; with one tile of k only ceil(rows / m) m k
//   matrices   visits k n; with one tile of k only G k n
//   results    rows n, once
// Grid (n, k, visits) of `tgmm`, the gradient of the matrices:
//   rows       ceil(rows / m) m (k for each tile of n + n for each tile of k)
//   results    G k n, once
// Pallas fetches the blocks of the next step of the grid while one is computed, so that a step takes as long as the longer of
// its tile and what moves meanwhile: a new tile of rows (and the results of the last), a new group's matrix, or both. Where tiles of k
// do not divide k, what lies beyond is masked in the blocks of the last of them, whole.
// Source: kernels/megablox/gmm.py of MaxText (make_group_metadata, mask_k_rem; the grids and index maps of gmm and tgmm), Pallas for
// the fetches.
#pragma once

#include <vector>

#include "workloads/plan/expert_matmul.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Steps of a grid that are alike, and what moves and is masked during each, in elements.
struct GridStep {
    double count = 0;
    double rows = 0;
    double matrices = 0;
    double results = 0;
    double masked = 0;
};

struct GroupedTiles {
    double visits = 0;
    double computed_of_group = 0;  ///< rows: visits m / groups, of groups that have rows
    double computed_k = 0;         ///< k and n up to whole tiles
    double computed_n = 0;
    double tiles_of_n = 1;
    MatmulShape tile{};   ///< of a step: rows m; of tgmm k rows of the matrices, rows, n
    double rows = 0;      ///< elements of rows that are fetched
    double matrices = 0;  ///< elements of the groups' matrices: fetched by gmm, written by tgmm
    double results = 0;   ///< elements of gmm's results
    std::vector<GridStep>
        steps;  ///< of gmm and tgmm: what moves in them is the above, but for what fills up a last tile of rows, and groups without rows
};

/// rows x k by each group's k x n. Nothing without rows.
GroupedTiles gmm_tiles(double rows, double groups, double k, double n, const ExpertTile& tile);
/// Each group's rows of k, transposed, by the same rows of n: k x n. Without rows zeros are written.
GroupedTiles tgmm_tiles(double rows, double groups, double k, double n, const ExpertTile& tile);

/// Those of each of so many devices together.
GroupedTiles on_devices(GroupedTiles tiles, double devices);

/// Groups that have rows, of `groups` alike.
double groups_with(double rows, double groups);

}  // namespace podsim::workloads
