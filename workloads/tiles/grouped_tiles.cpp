#include "workloads/tiles/grouped_tiles.h"

#include <algorithm>
#include <cmath>

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

/// What is computed; nothing is fetched yet.
GroupedTiles computed(const Grid& grid, double groups, double k, double n, const ExpertTile& tile) {
    GroupedTiles tiles;
    tiles.visits = grid.tiles_of_rows + groups - 1;
    tiles.computed_of_group = tiles.visits * grid.m / groups;
    tiles.computed_k = grid.tiles_of_k * std::min(tile.k, k);
    tiles.computed_n = grid.tiles_of_n * std::min(tile.n, n);
    return tiles;
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
    return tiles;
}

GroupedTiles tgmm_tiles(double rows, double groups, double k, double n, const ExpertTile& tile) {
    GroupedTiles tiles;
    if (rows > 0) {
        const Grid grid = grid_of(rows, k, n, tile);
        tiles = computed(grid, groups_with(rows, groups), k, n, tile);
        tiles.rows = grid.tiles_of_rows * grid.m * (k * grid.tiles_of_n + n * grid.tiles_of_k);
    }
    tiles.matrices = groups * k * n;
    return tiles;
}

}  // namespace podsim::workloads
