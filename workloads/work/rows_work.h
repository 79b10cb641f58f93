// Work of a matmul and of fractions of its rows: collective matmuls work on rows as they arrive.
//
// Each fraction reads all weights, and has its fraction of everything else. A grouped matmul
// in tiles is another kernel for fewer rows: its tiles are visited anew, ceil(rows
// / m) + G - 1 of them in every fraction (grouped_tiles.h). Weights that matmuls quantise
// themselves are quantised once.
#pragma once

#include "workloads/program/step_program.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {

class RowsWork {
public:
    /// Keeps a reference to the shard.
    RowsWork(const Shard& shard, Compute whole);
    /// A matmul of this chip's experts. Keeps a reference to the shard.
    RowsWork(const Shard& shard, Compute (*of_experts)(const Shard&));

    [[nodiscard]] const Compute& whole() const { return whole_; }
    /// Returns the work on a fraction `share` of the rows.
    [[nodiscard]] Compute part(double share) const;
    /// Returns the number of rows and columns that each have a scale in a quantised matmul with
    /// dynamic scales. With experts, the columns of every expert count.
    [[nodiscard]] double scales() const;

private:
    [[nodiscard]] double weight_bytes() const;
    [[nodiscard]] Compute part_in_tiles(double share) const;

    const Shard& shard_;
    Compute whole_;
    Compute (*of_experts_)(const Shard&) = nullptr;
};

}  // namespace podsim::workloads
