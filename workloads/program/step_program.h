// The training step as programs of single chips: compute, collectives, handovers and their
// dependencies, no seconds.
//
// All chips run the same program (SPMD), or one of several by their position along logical axes of
// the mesh: the stages of a pipeline, and the members of an axis that do unequal work. Operations
// are in program order; an operation may depend only on earlier ones. Compute operations run one
// after another in this order on the chip's compute stream; collectives run beside it as soon as
// their dependencies are met.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "collectives/vocabulary/host_direction.h"
#include "collectives/vocabulary/operation.h"
#include "collectives/vocabulary/ring_step.h"
#include "sim/base/quantity.h"
#include "workloads/plan/matmul_dtype.h"

namespace podsim::workloads {

using OpIndex = std::uint32_t;

enum class Pass { forward, recompute, backward, optimizer };
std::string_view to_string(Pass pass);

/// `count` products of an m x k by a k x n matrix.
struct MatmulShape {
    double m = 0;
    double k = 0;
    double n = 0;
    double count = 1;

    friend bool operator==(const MatmulShape&, const MatmulShape&) = default;
};

/// Equal steps of a kernel's grid: while the tile of one is computed, the blocks of the next are
/// moved.
struct KernelStep {
    double count = 0;    ///< of all cores of the chip
    MatmulShape tile{};  ///< of one
    double bytes = 0;    ///< that move during it
    double masked = 0;   ///< elementwise operations before its tile
    /// Elementwise operations of the vector unit while the tile is computed.
    double beside = 0;
    double cores = 1;   ///< cores that go through their steps side by side
    bool loop = false;  ///< inside the kernel, not of its grid: the next begins at once

    friend bool operator==(const KernelStep&, const KernelStep&) = default;
};

/// Work of one chip. FLOPs are those of the algorithm, without padding; 2 m k n a matmul unless a
/// fraction of it is skipped (causal attention counts half). MXU time scales flops by the padding
/// of `matmuls` and by `tiled`; HBM traffic and the vector unit's elementwise operations overlap
/// with it inside the operation.
struct Compute {
    sim::Flops flops;
    std::vector<MatmulShape> matmuls;
    sim::Bytes hbm;
    sim::Flops vector{};  ///< elementwise operations (vector_work.h)
    MatmulDtype dtype = MatmulDtype::bf16;
    bool attention = false;  ///< the matmuls are dot products inside a flash-attention kernel
    bool attention_gradient = false;  ///< for a kernel of the backward pass
    /// Steps of that kernel's grid, on one core of the chip: blocks that the mask does not
    /// leave out entirely.
    double grid_steps = 0;
    /// The kernel's softmax, forward, need not find its maximum.
    bool known_max_logit = false;
    sim::Bytes elementwise{};  ///< of hbm: moved by the elementwise work fused into the operation
    sim::Bytes gathered{};     ///< of elementwise: rows read or written in the order of indices
    sim::Bytes apart{};        ///< of elementwise: moved by kernels of their own before or after
    /// The matmuls are a kernel of their own (Pallas), into which XLA fuses no elementwise work:
    /// that runs before or after it.
    bool kernel = false;
    /// FLOPs that a kernel executes for each of `flops`: tiles that a group's end or a mask cuts
    /// are computed whole.
    double tiled = 1;
    /// Passes of the systolic array for each of `flops`: fp32 operands pass it as sums of bf16, 3
    /// at `high` and 6 at `highest`.
    double passes = 1;
    std::vector<KernelStep> steps{};  ///< for grouped matmuls in tiles: all their work
    /// For attention with a cache: sequences that the kernel goes through, one after another.
    double sequences = 0;
    /// The operation continues the kernel of the one before it, which goes through all runs of a
    /// step: it has no start of its own.
    bool continues = false;
    /// In inference: times that the chip waits for its host to prepare the next step.
    int host_turns = 0;

    friend bool operator==(const Compute&, const Compute&) = default;
};

/// The purpose of a collective: decides its priority and the row of the report it appears in.
/// tensor, context, expert and pipeline are on the critical path, then weight gathers, then
/// gradient reductions.
enum class Purpose { tensor, context, expert, weights, gradients, pipeline };
std::string_view to_string(Purpose purpose);

struct Collective {
    collectives::Operation operation{};
    Purpose purpose{};
    std::vector<std::string> axes;  ///< logical mesh axes whose product is the group
    sim::Bytes bytes;               ///< V: the complete array within one group
    /// One ring step of the operation alone (collectives/algorithms/ring_step_schedule.h). The
    /// first of its steps counts V, the others nothing.
    std::optional<collectives::RingStep> step{};
    /// For an AllToAll of unequal members: what each takes (`returning`: gives), over the mean, by
    /// its rank along the axis.
    std::vector<double> loads{};
    bool returning = false;
    int shift = 1;  ///< of a permute: ranks further

    friend bool operator==(const Collective&, const Collective&) = default;
};

/// One end of a transfer between programs: from every chip of one to the chip at the same position
/// of the other. The sender's operation has no end to wait for; the receiver's ends when the bytes
/// are there.
struct Handover {
    /// The same at both ends, and unique among all messages of the step.
    std::uint32_t message = 0;
    bool sends = false;
    std::uint32_t peer = 0;  ///< the stage of the other end
    Purpose purpose = Purpose::pipeline;
    sim::Bytes bytes;  ///< of one chip

    friend bool operator==(const Handover&, const Handover&) = default;
};

/// A tensor in transfer between a chip's HBM and its host's memory, over the chip's PCIe link,
/// beside the chain.
struct HostTransfer {
    collectives::HostDirection direction{};
    sim::Bytes bytes;

    friend bool operator==(const HostTransfer&, const HostTransfer&) = default;
};

using Work = std::variant<Compute, Collective, Handover, HostTransfer>;

struct Op {
    std::string name;  ///< `layer 3 forward gate_up`, for traces and reports
    Pass pass{};
    int layer = -1;  ///< -1: embedding, unembedding, optimizer
    Work work;
    /// Operations that must have ended, as the step is scheduled.
    std::vector<OpIndex> after;
    /// Needs in any order: the operations that make what it reads. Sorted.
    std::vector<OpIndex> needs{};
    /// Operations that the plan's bounds make it wait for: buffers of weights and tensors in
    /// transfer, pending reductions, collectives in flight. Sorted, beside `needs`. `after` obeys
    /// both and adds the order of the chip's compute stream.
    std::vector<OpIndex> limits{};
};

enum class MemoryClass {
    parameters,
    gradients,
    optimizer,
    activations,
    gathered_weights,
    kv_cache,
    buffers
};
std::string_view to_string(MemoryClass memory_class);

inline constexpr OpIndex kWholeStep = 0xffffffff;

/// Priority of collectives at a link: the ranks of those on the critical path (tensor, context,
/// expert), of weights and of gradients.
using LinkPlaces = std::array<std::uint32_t, 3>;
/// Those on the critical path, then weights or gradients, whichever the compute stream waits for
/// sooner. If ranks are all different, or all the same, collectives of one rank go in the program's
/// order.
inline constexpr LinkPlaces kByNeed{0, 1, 1};

/// Bytes held in one chip's HBM from the start of one operation to the end of another (the last to
/// end of `freed_after`).
struct Buffer {
    MemoryClass memory_class{};
    sim::Bytes bytes;
    OpIndex allocated_at = kWholeStep;  ///< kWholeStep: held from the start of the step
    std::vector<OpIndex> freed_after;   ///< empty: held to the end of the step
};

struct StepProgram {
    std::vector<Op> ops;
    std::vector<Buffer> buffers;
    /// The first operation of each unit of the stage's order (pipeline_order.h).
    std::vector<OpIndex> units{};
    /// The first operation of each turn, ascending: a pass over a layer, an end of the model, the
    /// optimizer. Compute belongs to its turn; gathers of weights and reductions of gradients may
    /// stand in another.
    std::vector<OpIndex> turns{};
    /// [operation]: the first that does the same work (alike_work.h). Empty: not determined.
    std::vector<OpIndex> first_alike{};
    /// In a step that generates tokens, the first operation of its first decode step, after the
    /// prefill; 0: it has none.
    OpIndex first_decode = 0;
    LinkPlaces priority = kByNeed;
};

/// A chip's rank along `axes`, the last of them fastest, selects its program; a single program is
/// that of all chips.
///
/// Programs of one stage are those of members that do unequal work. They have the same collectives
/// and transfers with the host in the same order. The n-th of each that is the same in all its
/// fields is one operation of them all, which every chip begins when it reaches it. A collective
/// over an axis along which they differ must be the same in all of them. Stages share no
/// collective; a handover is between a stage's chips and those of the other stage at the same ranks
/// of the other axes.
struct StepPrograms {
    std::vector<StepProgram> programs;
    std::vector<std::string> axes;
    std::size_t stages = 1;  ///< of a pipeline, whose axis is then the first

    StepPrograms() = default;
    StepPrograms(StepProgram program) : programs{std::move(program)} {}  // NOLINT: one for all

    /// Returns the programs of each stage.
    [[nodiscard]] std::size_t members() const { return programs.size() / stages; }
    [[nodiscard]] std::size_t stage(std::size_t program) const { return program / members(); }
    /// Returns the program of the other stage's chips at the same ranks of the other axes.
    [[nodiscard]] std::size_t peer(std::size_t program, const Handover& handover) const {
        return handover.peer * members() + program % members();
    }
};

}  // namespace podsim::workloads
