// The communication of a step that runs beside its compute, and how far ahead or behind it may run.
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

/// The classes of collectives that Overlap::priority orders: those on the critical path (tensor,
/// context, expert), weight gathers, gradient reductions.
inline constexpr std::size_t kPriorityClasses = 3;

/// The source of the order of a chip's operations. `chain`: the layers as written, compute and
/// blocking collectives one after another (workloads/program/chain.h). `latency_hiding`: a list
/// scheduler over the needs of operations (latency_hiding.h).
enum class SchedulePolicy { chain, latency_hiding };

/// The collectives of steps that a latency-hiding schedule may have in flight, in the order of
/// AsyncLimits.
inline constexpr std::array kAsyncKinds{
    collectives::Operation::all_gather, collectives::Operation::reduce_scatter,
    collectives::Operation::all_reduce, collectives::Operation::all_to_all};
/// The limit of each kind in flight at once; 0: they block, as operations of the compute stream.
using AsyncLimits = std::array<int, kAsyncKinds.size()>;

struct Overlap {
    /// The weights of a layer that are gathered, and whose gradients are reduced, together.
    WeightGroups weights = WeightGroups::layer;
    /// Layers are the iterations of a loop, and no gather of weights or reduction of gradients runs
    /// from one into the next.
    bool layer_loop = false;
    /// In this loop reductions over data run beside the next iteration, whose end waits for them.
    /// XLA pipelines those between slices (xla_tpu_enable_data_parallel_all_reduce_opt, which the
    /// published runs on several slices set), not those within one. Nothing runs after the
    /// reductions of the last iteration and of the embedding.
    bool data_runs_on = false;
    /// Weight gathers may run this many uses ahead; if a layer's weights are in several groups,
    /// fractions of a use count.
    double prefetch_layers = 1;
    /// Layers by which offloaded tensors return from the host before the backward pass that needs
    /// them. The look-ahead of gathers does not bound it: XLA's latency-hiding scheduler limits
    /// host transfers apart from gathers (SchedulerConfig: send_recv_host_overlap_limit beside
    /// all_gather_overlap_limit). If a layer's weights are in several groups, half a layer is the
    /// compute of the last group before the layer (kLeastFetch).
    double fetch_layers = 1;
    /// The tensor collectives before and after matmuls as ring steps between segments of the
    /// matmul (the "collective matmul"); nothing: they block.
    std::optional<collectives::SteppedGather> tensor_steps{};
    /// Ring attention: keys and values go round the context ring, in one direction, during the
    /// attention to the block before; nothing: they are gathered first.
    std::optional<collectives::SteppedGather> context_steps{};
    /// Gradient reductions that may be pending after the backward pass.
    int reductions_in_flight = 2;
    /// Bytes of the buckets in which gradients are reduced (of the arrays that a chip holds). A
    /// bucket may hold several groups' gradients or a fraction of one's; infinity: each group on
    /// its own.
    sim::Bytes bucket = sim::Bytes::infinity();
    /// Collectives of all kinds that may run at once: the i-th in program order waits for the one
    /// that many before; 0: no limit, 1: one after the other.
    int collectives_in_flight = 0;
    /// Priority at a link: the rank of each class, in the order of kPriorityClasses. By default
    /// those on the critical path go first, then weight gathers or gradient reductions, whichever
    /// the compute stream waits for sooner (kByNeed).
    std::array<std::uint32_t, kPriorityClasses> priority{0, 1, 1};
    SchedulePolicy schedule = SchedulePolicy::chain;
    /// Limits of a latency-hiding schedule, within a slice. One of each kind, the defaults of XLA's
    /// SchedulerConfig (xla/service/latency_hiding_scheduler.h); AllToAll blocks, as
    /// xla_tpu_enable_async_all_to_all is off by default.
    AsyncLimits async{1, 1, 1, 0};
    friend bool operator==(const Overlap&, const Overlap&) = default;
};

}  // namespace podsim::workloads
