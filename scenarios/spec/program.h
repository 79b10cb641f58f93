// A program scenario: a few stages one after the other, pipelined in pieces, instead of a training
// step. It answers questions such as: how long does it take to bring an array from host memory
// to one chip and multiply by it?
//
// Every chip goes through the same stages. Each stage is cut into `pieces` equal pieces; at each chip,
// piece i of a stage follows piece i of the stage before. Matmuls and reads of HBM occupy the chip's
// compute stream one at a time, PCIe and ICI their links. A matmul may gather one of its operands: before it
// starts, or in ring steps between its parts (collectives/algorithms/ring_steps.h).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "collectives/algorithms/ring_steps.h"
#include "collectives/vocabulary/algorithm.h"
#include "collectives/vocabulary/operation.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/scenario.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Between host memory and HBM over every chip's PCIe link: `bytes` in all, spread over the chips.
struct HostTransfer {
    bool to_chip = true;
    sim::Bytes bytes;
};

struct StageCollective {
    collectives::Operation operation{};
    collectives::Members members;
    collectives::Ends ends;
    collectives::Algorithm algorithm{};
    sim::Bytes bytes;
};

/// An operand of a matmul that a group gathers: before it, or in ring steps between its parts.
struct StageGather {
    collectives::Members members;
    sim::Bytes bytes;                  ///< V: the gathered operand
    bool inner = false;                ///< split along the inner dimension k: parts are added up
    bool of_weights = false;           ///< the k x n operand instead of the m x k one
    collectives::SteppedGather order;  ///< of the parts; one step and one part when it blocks
    bool blocking = true;              ///< the step is a whole AllGather
    sim::Bytes every_part;             ///< HBM bytes that each part moves anew
    sim::Bytes later_parts;            ///< and each but the first (partial sums that are read)
};

/// Of every chip, or of one alone.
struct StageCompute {
    workloads::Compute work;
    std::optional<StageGather> gather{};
    bool int8 = false;  ///< at the chip's int8 rate instead of bf16
    std::optional<topology::Point> at;
};

struct Stage {
    std::string name;
    std::variant<HostTransfer, StageCollective, StageCompute> work;
};

struct Program {
    int pieces = 1;
    std::vector<Stage> stages;
};

struct StageResult {
    std::string name;
    std::string resource;  ///< `pcie`, `ici`, `mxu`, `hbm`: what its bound comes from
    sim::Time began;       ///< the first piece, anywhere
    sim::Time ended;       ///< the last piece, everywhere
    sim::Seconds bound;    ///< no schedule of this stage alone is faster
    /// Of a matmul with a gathered operand: the bounds of the gather and of the matmul.
    std::optional<sim::Seconds> gather_bound{};
    std::optional<sim::Seconds> matmul_bound{};
};

struct ProgramResult {
    sim::Time time;
    std::vector<StageResult> stages;
    std::size_t limiting = 0;  ///< the stage whose bound is the largest (compute stages together)
    sim::Seconds lower;        ///< that bound
    sim::Seconds serial;       ///< the stages' bounds, one after the other
    /// Adds up to time - lower (rounded down to ps): `before` and `after` the limiting stage, and what it
    /// takes beyond its bound from its first piece to its last.
    /// Of one collective in one piece instead: `launch`, `latency`, `uneven load`, `idle` (CollectiveResult).
    std::vector<Share> gap;
    /// The reference text's time of that collective, and time - book in terms that add up exactly (rounded
    /// down to ps): `text's latency` where the text's time is latency alone, `(n-1)/n` what a chip need not
    /// receive and the text counts, and those of the gap.
    std::optional<sim::Seconds> book;
    std::vector<Share> gap_to_book;
    std::vector<LinkUse> links;
    std::uint64_t events = 0;
    int simulated_chips = 0;
    double wall_time_s = 0;
};

/// Whether the program is one collective in one piece, which the text has a time for.
bool is_one_collective(const Program& program);

ProgramResult simulate_program(const Hardware& hardware, const Program& program, Fold fold,
                               RunWatch* watch = nullptr);

}  // namespace podsim::scenarios
