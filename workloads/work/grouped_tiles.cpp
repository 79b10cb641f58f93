#include "workloads/work/grouped_tiles.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace podsim::workloads {
namespace {

struct Grid {
    double tiles_of_rows = 0;
    double tiles_of_k = 0;
    double tiles_of_n = 0;
    double m = 0;  ///< rows of a tile
};

Grid grid_of(double rows, double k, double n, const ExpertTile& tile) {
    Grid grid;
    grid.m = std::min(tile.m, std::ceil(rows));
    grid.tiles_of_rows = std::ceil(rows / grid.m);
    grid.tiles_of_k = std::ceil(k / tile.k);
    grid.tiles_of_n = std::ceil(n / tile.n);
    return grid;
}

/// Returns the computed tiles, with nothing fetched yet.
GroupedTiles computed(const Grid& grid, double groups, double k, double n, const ExpertTile& tile) {
    GroupedTiles tiles;
    tiles.visits = grid.tiles_of_rows + groups - 1;
    tiles.computed_of_group = tiles.visits * grid.m / groups;
    tiles.computed_k = grid.tiles_of_k * std::min(tile.k, k);
    tiles.computed_n = grid.tiles_of_n * std::min(tile.n, n);
    tiles.tiles_of_n = grid.tiles_of_n;
    tiles.tile = {grid.m, std::min(tile.k, k), std::min(tile.n, n)};
    return tiles;
}

/// Returns the steps. A visit of a new tile of rows moves `rows`, a visit of another group `group`,
/// and the first visit both.
std::vector<GridStep> steps_of(double visits, double tiles_of_rows, double times,
                               const GridStep& rows, const GridStep& group) {
    const GridStep both{1, rows.rows + group.rows, rows.matrices + group.matrices,
                        rows.results + group.results, rows.masked};
    std::vector<GridStep> steps{both, rows, group};
    steps[1].count = tiles_of_rows - 1;
    steps[2].count = visits - tiles_of_rows;
    for (GridStep& step : steps) {
        step.count *= times;
    }
    return steps;
}

/// Returns the row and matrix elements that a step masks, averaged over the tiles of k. A tile that
/// exceeds k is cut to k, unless it only fills up the last of its lanes.
double masked_of(const Grid& grid, double k, double n, const ExpertTile& tile) {
    constexpr double kTileLanes = 128;
    const bool divides = tile.k >= k + kTileLanes || std::fmod(k, tile.k) == 0;
    return divides ? 0 : (grid.m + n / grid.tiles_of_n) * tile.k / grid.tiles_of_k;
}

}  // namespace

double groups_with(double rows, double groups) {
    return std::min(groups, std::ceil(rows));
}

GroupedTiles on_devices(GroupedTiles tiles, double devices) {
    for (double GroupedTiles::*one :
         {&GroupedTiles::visits, &GroupedTiles::computed_of_group, &GroupedTiles::rows,
          &GroupedTiles::matrices, &GroupedTiles::results}) {
        tiles.*one *= devices;
    }
    for (GridStep& step : tiles.steps) {
        step.count *= devices;
    }
    return tiles;
}

GroupedTiles gmm_tiles(double rows, double groups, double k, double n, const ExpertTile& tile) {
    if (rows == 0) {
        return {};
    }
    const double filled = groups_with(rows, groups);
    const Grid grid = grid_of(rows, k, n, tile);
    GroupedTiles tiles = computed(grid, filled, k, n, tile);
    const bool whole = grid.tiles_of_k == 1;
    tiles.rows = (whole ? grid.tiles_of_rows : tiles.visits) * grid.m * k * grid.tiles_of_n;
    tiles.matrices = (whole ? filled : tiles.visits) * k * n;
    tiles.results = rows * n;
    const double masked = masked_of(grid, k, n, tile);
    const double row_block = grid.m * k / grid.tiles_of_k;
    const double matrix_block = k * n / grid.tiles_of_k / grid.tiles_of_n;
    const double result_block = grid.m * n / grid.tiles_of_n;
    tiles.steps =
        whole ? steps_of(tiles.visits, grid.tiles_of_rows, grid.tiles_of_n,
                         {0, row_block, 0, result_block, masked}, {0, 0, matrix_block, 0, masked})
              : std::vector<GridStep>{
                    {grid.tiles_of_rows * grid.tiles_of_n, row_block, matrix_block, result_block,
                     masked},
                    {(tiles.visits * grid.tiles_of_k - grid.tiles_of_rows) * grid.tiles_of_n,
                     row_block, matrix_block, 0, masked}};
    return tiles;
}

GroupedTiles tgmm_tiles(double rows, double groups, double k, double n, const ExpertTile& tile) {
    GroupedTiles tiles;
    if (rows > 0) {
        const Grid grid = grid_of(rows, k, n, tile);
        tiles = computed(grid, groups_with(rows, groups), k, n, tile);
        std::swap(tiles.tile.m, tiles.tile.k);
        tiles.rows = grid.tiles_of_rows * grid.m * (k * grid.tiles_of_n + n * grid.tiles_of_k);
        tiles.steps = steps_of(tiles.visits, grid.tiles_of_rows, grid.tiles_of_k * grid.tiles_of_n,
                               {0, grid.m * (k / grid.tiles_of_k + n / grid.tiles_of_n), 0, 0, 0},
                               {0, 0, k * n / grid.tiles_of_k / grid.tiles_of_n, 0, 0});
    }
    tiles.matrices = groups * k * n;
    return tiles;
}

}  // namespace podsim::workloads
