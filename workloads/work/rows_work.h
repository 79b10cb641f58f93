// A matmul's work, and that of parts of its rows: collective matmuls work on rows as they come.
//
// Each part reads all weights, and has its share of all else. A grouped matmul in tiles is another kernel of fewer rows: its
// tiles are visited anew, ceil(rows / m) + G - 1 of them in every part (tiles/grouped_tiles.h). Weights that matmuls quantise
// themselves are quantised once.
#pragma once

#include "workloads/program/step_program.h"
#include "workloads/shards/shard.h"

namespace podsim::workloads {

class RowsWork {
public:
    /// Keeps a reference to the shard.
    RowsWork(const Shard& shard, Compute whole);
    /// Of this chip's experts.
    RowsWork(const Shard& shard, Compute (*of_experts)(const Shard&));

    [[nodiscard]] const Compute& whole() const { return whole_; }
    /// The part that has such a share of the rows.
    [[nodiscard]] Compute part(double share) const;
    /// Rows and columns that have a scale each in a quantised matmul of dynamic scales, of experts those of every one.
    [[nodiscard]] double scales() const;

private:
    [[nodiscard]] double weight_bytes() const;
    [[nodiscard]] Compute part_in_tiles(double share) const;

    const Shard& shard_;
    Compute whole_;
    Compute (*of_experts_)(const Shard&) = nullptr;
};

}  // namespace podsim::workloads
