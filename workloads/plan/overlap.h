// What of a step's communication runs beside its compute, and how far ahead or behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/vocabulary/operation.h"
#include "collectives/vocabulary/ring_step.h"
#include "sim/base/quantity.h"
#include "workloads/models/weights.h"

namespace podsim::workloads {

/// The classes of collectives that Overlap::priority orders: those on the critical path (tensor, context, expert),
/// weight gathers, gradient reductions.
inline constexpr std::size_t kPriorityClasses = 3;

/// Who decides the order of a chip's operations: the layers as they are written, compute and blocking collectives one
/// after another (chain/), or a list scheduler over what operations need (schedule/).
enum class SchedulePolicy { chain, latency_hiding };

/// The collectives of steps that a latency-hiding schedule may have in flight, in the order of AsyncLimits.
inline constexpr std::array kAsyncKinds{
    collectives::Operation::all_gather, collectives::Operation::reduce_scatter,
    collectives::Operation::all_reduce, collectives::Operation::all_to_all};
/// How many of each kind may be in flight at once; 0: they block, as part of the compute stream.
using AsyncLimits = std::array<int, kAsyncKinds.size()>;

struct Overlap {
    /// What of a layer is gathered, and its gradients reduced, in one piece.
    WeightGroups weights = WeightGroups::layer;
    /// Layers are the turns of a loop, and no gather of weights or reduction of gradients runs from one into the next.
    bool layer_loop = false;
    /// In such a loop reductions over data run beside the next turn, whose end waits for them: XLA pipelines those between
    /// slices (xla_tpu_enable_data_parallel_all_reduce_opt, which the published runs on several slices set), not those
    /// within one. What the last turn and the embedding reduce has nothing behind it.
    bool data_runs_on = false;
    /// Weight gathers may run this many uses ahead; where a layer's weights come in several pieces, parts of a use count.
    double prefetch_layers = 1;
    /// Layers that offloaded tensors come back from the host ahead of the backward pass that needs them. No gather's look-ahead
    /// bounds it: XLA's latency-hiding scheduler limits host transfers apart from gathers (SchedulerConfig:
    /// send_recv_host_overlap_limit beside all_gather_overlap_limit). Where a layer's weights come in several pieces, half a layer is
    /// the last piece's compute before the layer (kLeastFetch).
    double fetch_layers = 1;
    /// The tensor collectives in front of and behind matmuls as ring steps between parts of the matmul (the
    /// "collective matmul"); nothing: they block.
    std::optional<collectives::SteppedGather> tensor_steps{};
    /// Ring attention: keys and values go round the context ring, one way, under the attention to the block
    /// before; nothing: they are gathered first.
    std::optional<collectives::SteppedGather> context_steps{};
    int reductions_in_flight =
        2;  ///< gradient reductions that may be pending behind the backward pass
    /// Gradients are reduced in buckets of so many bytes (of the arrays that a chip holds), which may hold several
    /// groups' gradients or a part of one's; infinity: each group on its own.
    sim::Bytes bucket = sim::Bytes::infinity();
    /// Collectives of all kinds that may run at once: the i-th in program order waits for the one so many before;
    /// 0: no limit, 1: one after the other.
    int collectives_in_flight = 0;
    /// Which goes first at a link: the place of each class, in the order of kPriorityClasses. The default has those on the critical
    /// path first, then of weight gathers and gradient reductions whichever the compute stream waits for sooner (kByNeed).
    std::array<std::uint32_t, kPriorityClasses> priority{0, 1, 1};
    SchedulePolicy schedule = SchedulePolicy::chain;
    /// Of a latency-hiding schedule, within a slice. One of each kind, the defaults of XLA's SchedulerConfig
    /// (xla/service/latency_hiding_scheduler.h); AllToAll blocks, as xla_tpu_enable_async_all_to_all is off by default.
    AsyncLimits async{1, 1, 1, 0};
    friend bool operator==(const Overlap&, const Overlap&) = default;
};

}  // namespace podsim::workloads
