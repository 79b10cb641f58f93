// Everything that the forward pass of a chip is written with. It knows nothing of gradients, so
// that inference can use it; step_parts.h adds the needs of the backward pass.
//
// Operations are written in program order, named after the current part. Each takes the makers of
// its inputs (Tensor::made_by) and returns its output.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/plan/overlap.h"
#include "workloads/plan/remat.h"
#include "workloads/plan/ways.h"
#include "workloads/program/chain.h"
#include "workloads/program/held_buffers.h"
#include "workloads/program/op_names.h"
#include "workloads/step/matmul_overlap.h"
#include "workloads/step/row_exchange.h"
#include "workloads/step/weight_gathers.h"
#include "workloads/work/attention_seen.h"
#include "workloads/work/rows_work.h"
#include "workloads/work/window_ring.h"
#include "workloads/work/work.h"

namespace podsim::workloads {

// Ring attention to a window: keys and values go only as far as queries see them (window_ring.h),
// under the attention to earlier arrivals.
//
// Forward: round 0, on the chip's own keys; then round s behind the steps s. A step depends only on
// the one that brought the segment that it passes on.
//
// Backward: the same steps, and round 0; then the rounds from the farthest back. A segment's
// gradients begin at the farthest rank that sees it. Each round adds to the sums that have come of
// the round before. The step back takes the sum one rank nearer to its own, which adds its
// contribution, computed first. All steps back but the last therefore run under attention, too.
//
// Held are, forward, the segments of two steps, at work and under way; backward, all of them until
// their round, and gradients of two steps. V of a step, as an AllGather counts it (n - 1 times V
// moves over all links of a group): bytes x senders / (n - 1).

/// Writer of attention to a window and its ring steps.
class WindowAttention {
public:
    WindowAttention(const Shard& shard, const OpNames& names, Chain& chain, HeldBuffers& buffers)
        : shard_(shard), names_(names), chain_(chain), buffers_(buffers) {}

    /// Adds attention, or its gradient, between the steps that bring its pending keys and values.
    /// `part` is by round; nothing if the chip's queries see none of the arrivals.
    Tensor over_window(std::string_view what, const WindowRing& ring, const Arriving& keys,
                       const Sources& others, const PartOf& part, bool gradient);

private:
    /// A step of a window's ring in one direction.
    struct Shift {
        WindowRing::Way way{};
        int step = 0;
        WindowRing::Senders senders;
        double bytes = 0;  ///< of one segment
    };
    using Rounds = std::vector<std::vector<Shift>>;
    /// Returns the steps of each round that a rank sends.
    [[nodiscard]] Rounds shifts_of(const WindowRing& ring, double piece) const;
    OpIndex shift(std::string_view what, const Shift& shift, bool back, Chain::Waits waits);
    /// Holds the segments of all rounds' steps, from operation `first` until the last of `came`;
    /// with `passed_on`, the last steps back, the gradients too.
    void hold_rounds(const Rounds& shifts, double piece, OpIndex first, const Sources& came,
                     const Sources* passed_on);

    const Shard& shard_;
    const OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
};

// Tensors that stay with the host between the forward and the backward pass.
//
// A tensor of a layer goes to the host once it exists. It leaves HBM when the transfer has ended
// and this pass has read it. The first compute of use u waits for the transfers of use
// u - 1 - fetch, so that the tensors of at most fetch + 1 layers are on their way. A tensor comes
// back for the use of the layer's backward pass, as weights do: after the last compute of the use
// fetch + 1 before, and the first compute of the use waits for it. With stretches, the store is
// awaited by the first stretch that begins fetch or more after the use's end, fetch rounded up to
// layers. The tensor comes back like the gather of the use's first stretch (weight_gathers.h).

/// Transfers of a program's tensors to the host and back.
class HostOffload {
public:
    HostOffload(const Overlap& overlap, const WeightGathers& weights, const OpNames& names,
                Chain& chain, HeldBuffers& buffers)
        : fetch_(overlap.fetch_layers),
          weights_(weights),
          names_(names),
          chain_(chain),
          buffers_(buffers) {}

    /// Sends a tensor of the current layer, which exists from `from` on, to the host; it comes back
    /// before the layer's backward pass. `last_use` reads it last in this pass. Returns the buffer
    /// that it comes back to.
    BufferId offload(std::string_view name, double bytes, OpIndex from, const Sources& made_by,
                     OpIndex last_use);
    /// Issues the transfers that may start now; called at the beginning of each stretch.
    void begin_stretch();
    /// Makes the transfer that brings a tensor back, if there is one, its maker from here on.
    void bring_back(Tensor& tensor) const;

private:
    /// The tensors of one use of a layer that go to the host.
    struct Layer {
        struct Stored {
            std::string name;
            OpIndex from = kWholeStep;
            Sources made_by{};
            BufferId leaves = kNoBuffer;
            BufferId returns = kNoBuffer;
            OpIndex stored = kWholeStep;
        };
        std::size_t use = 0;   ///< the use that writes them
        std::size_t back = 0;  ///< the use that needs them again
        std::vector<Stored> tensors{};
        bool awaited = false;  ///< a use has waited until they were stored
        Sources fetched{};     ///< empty: not yet under way
    };

    /// Return the stretch that waits until a layer's tensors are stored, and the first in which
    /// they may come back.
    [[nodiscard]] std::size_t awaits(const Layer& layer) const;
    [[nodiscard]] std::size_t may_fetch(const Layer& layer) const;
    void store(Layer& layer);
    void fetch(Layer& layer);
    OpIndex transfer(std::size_t use, std::string_view what, collectives::HostDirection direction,
                     BufferId buffer, Chain::Waits waits);

    const double fetch_;  ///< Overlap::fetch_layers
    const WeightGathers& weights_;
    const OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
    std::vector<Layer> away_;       ///< those that have not come back
    std::vector<bool> comes_back_;  ///< by buffer
};

/// Writer of a stage's messages.
class StageMessages {
public:
    StageMessages(const Shard& shard, const OpNames& names, Chain& chain, HeldBuffers& buffers)
        : shard_(shard), names_(names), chain_(chain), buffers_(buffers) {}

    /// Called at the beginning of each unit of the stage's order.
    void begin_unit();
    /// Receives this chip's rows from the counterpart that sends the message. The next operation of
    /// the chain waits for them. They are requested when the unit before this one begins.
    Tensor receive_rows(std::string_view what, Handover handover);
    /// Receives another tensor, of the handover's own bytes.
    Tensor receive(std::string_view what, const Handover& handover);
    void send(std::string_view what, const Handover& handover, const Tensor& sent);
    /// Sends this chip's rows to the counterpart; the chain goes on. They are held until
    /// they have arrived.
    void send_rows(std::string_view what, Handover handover, const Tensor& rows);

private:
    const Shard& shard_;
    const OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
    OpIndex unit_began_ = kWholeStep;  ///< the chain's end at that time
    OpIndex unit_before_began_ = kWholeStep;
};

struct LayerKind;
struct ModelSpec;
struct TrainingPlan;

/// Shard, collectives, gathers and buffers of a chip's program while it is written.
struct ForwardParts {
    /// `uses` of weights are in the order in which begin_use will be called.
    ForwardParts(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                 std::vector<WeightUse> uses);
    ForwardParts(const ForwardParts&) = delete;
    ForwardParts& operator=(const ForwardParts&) = delete;

    const std::shared_ptr<const TrainingPlan> plan;
    const Ways& ways;
    const Remat& remat;
    /// How far communication runs ahead of compute, and behind it.
    const Overlap& bounds;
    /// Attention's sizes are those of the current layer.
    Shard shard;
    const WeightSharding sharding;
    OpNames names;
    HeldBuffers buffers;
    Chain chain;
    WeightGathers weights;
    HostOffload host;
    MatmulOverlap overlap;
    RowExchange exchange;
    WindowAttention window;
    StageMessages messages;

    /// Makes a layer of that kind the current one.
    void enter(LayerKind kind);
    /// Returns the attention counts of the current layer, which is of that kind.
    const Seen& seen(LayerKind kind);
    /// Begins a new unit of the stage's order, for this microbatch.
    void begin_unit(int microbatch);
    /// Begins the next use of weights; weights.end_use() ends it.
    void begin_use();
    /// Notes that the next compute reads a matrix of the use's layer: calls WeightGathers::reads,
    /// and begins transfers that may start with it.
    void reads(Matrix matrix);

    /// Adds the next compute operation of the chain.
    Tensor compute(std::string_view what, Compute work, Sources needs);
    /// Adds a compute operation that also reads the weights of the current stretch.
    Tensor with_weights(std::string_view what, Compute work, Sources needs);
    /// Adds a matmul of arriving rows by those weights, in segments if the gather overlaps with it.
    Tensor matmul(std::string_view what, const RowsWork& work, Arriving& rows, Sources others = {});
    Tensor matmul(std::string_view what, Compute work, Arriving& rows, Sources others = {}) {
        return matmul(what, RowsWork(shard, std::move(work)), rows, std::move(others));
    }
    /// Adds a matmul by those weights. The next scatter adds up its rows, partial sums
    /// of `bytes` in all.
    PartialSums matmul_scattered(std::string_view what, const RowsWork& work, double bytes,
                                 Sources needs);
    PartialSums matmul_scattered(std::string_view what, Compute work, double bytes, Sources needs) {
        return matmul_scattered(what, RowsWork(shard, std::move(work)), bytes, std::move(needs));
    }

    StepProgram finish();

private:
    /// Shards of global layers and of local ones; empty if they are alike.
    std::vector<Shard> of_kinds_;
    std::array<std::optional<Seen>, 2> seen_;  ///< of global layers and of local ones
};

}  // namespace podsim::workloads
