// A program scenario: a few stages one after the other, pipelined in pieces, instead of a training
// step. It answers questions such as: how long does it take to bring an array from host memory to
// one chip and multiply by it?
//
// Every chip goes through the same stages. Each stage is cut into `pieces` equal pieces; at each
// chip, piece i of a stage follows piece i of the stage before. Matmuls and reads of HBM occupy the
// chip's compute stream one at a time, PCIe and ICI their links. A matmul may gather one of its
// operands: before it starts, or in ring steps between its segments
// (collectives/algorithms/ring_step_schedule.h).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "collectives/vocabulary/host_direction.h"
#include "collectives/vocabulary/operation.h"
#include "collectives/vocabulary/ring_step.h"
#include "scenarios/src/scenario/request.h"
#include "sim/base/error.h"
#include "topology/lattice/lattice.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// A transfer between host memory and HBM over every chip's PCIe link: `bytes` in total, spread
/// over the chips.
struct HostTransfer {
    collectives::HostDirection direction{};
    sim::Bytes bytes;
};

/// An operand of a matmul that a group gathers: before it, or in ring steps between its segments.
struct StageGather {
    collectives::Members members;
    sim::Bytes bytes;  ///< V: the gathered operand
    /// Split along the inner dimension k: segments are added.
    bool inner = false;
    bool of_weights = false;  ///< the k x n operand instead of the m x k one
    /// Order of the segments; one step and one segment if it blocks.
    collectives::SteppedGather order;
    bool blocking = true;   ///< the step is a whole AllGather
    sim::Bytes every_part;  ///< HBM bytes that each segment moves anew
    /// The same, for each but the first (partial sums that are read).
    sim::Bytes later_parts;
};

/// Work of every chip, or of one alone.
struct StageCompute {
    workloads::Compute work;
    std::optional<StageGather> gather{};
    std::optional<topology::Point> at;
};

struct Stage {
    std::string name;
    std::variant<HostTransfer, StageCollective, StageCompute> work;
    sim::SourceMark mark{};  ///< position in the file
};

struct Program {
    int pieces = 1;
    std::vector<Stage> stages;
};

/// True if the program is one collective in one piece, for which the reference text has a time.
bool is_one_collective(const Program& program);

}  // namespace podsim::scenarios
