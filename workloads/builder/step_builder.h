// Writes the operations of one chip's step in program order, with their dependencies and buffers.
//
// Compute operations and blocking collectives (tensor, context) form one chain: each depends on the
// one before it, so a blocking collective stands strictly on the critical path. Two things run
// beside it:
//
// Weight gathers. A use is one pass over a layer (or embedding, or unembedding). Its gather is an
//   AllGather of V = parameters / T x compute bytes over fsdp x context (none when those are 1).
//   Use u's gather waits for the last compute of use u - 1 - prefetch, so prefetch + 1 gathered
//   buffers are alive; the first compute of use u waits for its gather. A collective of use u that
//   comes before its first compute does not wait.
//   Weights in several groups (Overlap::weights): a use is a row of m stretches, each of compute that reads one
//   group; they begin at u, u + 1/m, ... A group is gathered once a use, by itself: for its first stretch there, at x, after
//   the last compute of the stretch before the first that begins at x - prefetch or later; the first compute of the
//   stretch waits. It is held until the use's last compute that reads it. (One group: m = 1.)
//   In a loop of layers (layer_loop) a gather waits at least for all compute and reductions of the uses before its own,
//   and so does the first compute of a use.
// Gradient reductions. ReduceScatter over fsdp x context (V = parameters / T x gradient bytes), then AllReduce over data
//   of the shard (ZeRO-2: another ReduceScatter). Routed experts apart (below). One for each group of weights after the
//   last compute that writes its gradients, or, with buckets, as soon as the bytes that wait fill one; the rest goes
//   before the optimizer. The first compute that writes a group's gradients waits until fewer than
//   reductions_in_flight are pending.
// Optimizer. One update after all reductions; ZeRO-1 and 2: each group's share, then an AllGather over data of the group's
//   parameters, which the step's end waits for (the next forward pass needs them: nothing hides the last).
// With collectives_in_flight = n the i-th collective in program order also waits for the end of the (i - n)-th.
//
// With Overlap::tensor_steps a gather and the matmul after it, and a matmul and the scatter after it, are
// one stretch of ring steps and parts of the matmul (step_builder_overlap.cpp).
//
// Expert parallelism. For all weights but the routed experts the axis `expert` is one more of fsdp: they are
// gathered and reduced over fsdp x context x expert. A chip's experts (1 / expert of a layer's) are gathered
// and reduced over fsdp x context, in operations of their own; without expert ways they go with the rest.
//
// Microbatches. Weights are gathered for every use, that is for every microbatch anew. A group's gradients are reduced
// and scattered for every microbatch, and the shards add up; the AllReduce over data comes once, after the last (the
// ReduceScatter of ZeRO-2 for every one). Without
// a ReduceScatter they add up where they are: from the second microbatch on, the first operation that
// writes a group's gradients also reads them. Adding up scattered shards costs nothing, as in a reduction.
//
// Offloading. A tensor of a layer goes to the host when it is there, and leaves HBM when the transfer has ended and
// this pass has read it. The first compute of use u waits for the transfers of use u - 1 - prefetch, so that at
// most prefetch + 1 layers' tensors are on their way. It comes back for the use of the layer's backward pass, as weights
// do: after the last compute of the use prefetch + 1 before, and the first compute of the use waits for it. (With
// stretches, the first that begins prefetch or more after the use's end; as the gather of the use's first stretch.)
//
// Parameters count with their group, norm vectors included, all split over T (the norms, some 1e-5
// of a layer, would in fact be whole on every tensor way). Axes of one member are left out of a
// group.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/builder/weight_uses.h"
#include "workloads/plan/plan.h"
#include "workloads/program/step_program.h"
#include "workloads/work/window_ring.h"
#include "workloads/work/work.h"

namespace podsim::workloads {

/// A buffer whose end may be set later; kNoBuffer where nothing is held.
using BufferId = std::uint32_t;
inline constexpr BufferId kNoBuffer = 0xffffffff;

/// The buffers of a group's unreduced gradients.
struct Gradients {
    BufferId dense = kNoBuffer;
    BufferId experts = kNoBuffer;
};

class StepBuilder {
public:
    /// `uses` in the order in which begin_use will be called.
    /// `parameters` of the whole model that the chip's stage holds.
    StepBuilder(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                std::vector<WeightUse> uses, double parameters);

    [[nodiscard]] const Shard& shard() const { return shard_; }
    [[nodiscard]] const TrainingPlan& plan() const { return plan_; }

    /// Starts the next use: issues the gather that may start now. Names and layer of the following
    /// operations are those of the use.
    void begin_use();
    void end_use();
    /// The next compute reads a matrix of the use's layer: where that is of another group, the next stretch begins.
    /// To be called before what the compute writes, or gathers, is numbered with next().
    void reads(Matrix matrix);
    /// What has been read in each use so far.
    [[nodiscard]] const std::vector<std::vector<Matrix>>& matrices_read() const { return read_; }
    /// The pass of the following operations (begin_use sets the use's).
    void set_pass(Pass pass) { pass_ = pass; }
    /// Following operations belong to no use of weights.
    void set_part(std::string part, Pass pass, int layer = -1);
    /// Following operations belong to a new stretch of work for this microbatch.
    void begin_unit(int microbatch);
    /// No bucket holds gradients of two microbatches.
    void end_unit();
    /// In a loop of layers (Overlap::layer_loop) the layer under way ends with its reductions: what comes next waits.
    /// end_use() calls it.
    void end_turn();

    /// The next compute operation of the chain; after a gather that overlaps with it, the last of its parts.
    OpIndex compute(std::string_view what, Compute work);
    /// The same of a matmul whose rows, partial sums of `bytes` in all, the next scatter adds up.
    OpIndex compute_scattered(std::string_view what, Compute work, double bytes);

    /// The part of an operation that works on the i-th piece to come (collectives::SteppedGather); nothing where
    /// the piece only passes by.
    using PartOf = std::function<std::optional<Compute>(std::size_t piece)>;
    /// Attention, or its gradient, after gather_kv: of ring attention in parts by keys. `gradient`: the parts'
    /// gradients of keys and values go round too, in place of the scatter_kv that follows.
    OpIndex compute_over_keys(std::string_view what, Compute work, const PartOf& part,
                              bool gradient);

    /// Attention, or its gradient, to a window, after gather_kv, between the steps that bring its keys and values
    /// (step_builder_window.cpp): the part of a round; nothing where the chip's queries see nothing of what came.
    OpIndex compute_over_window(std::string_view what, const WindowRing& ring, const PartOf& part,
                                bool gradient);

    /// An AllGather over tensor of t x D activations: blocking, or overlapped with the matmul that follows.
    /// Without tensor parallelism nothing is issued; either way returns the operation from which on the
    /// complete rows exist.
    OpIndex gather_rows(std::string_view what);
    /// The same of rows that only a later weight gradient needs: with overlap the gather runs beside what
    /// stands before it, to the operation that follows await_rows.
    OpIndex gather_rows_ahead(std::string_view what);
    void await_rows();
    /// A blocking ReduceScatter over tensor of the t x D partial sums that `producer` wrote, held
    /// until it ends. Returns the operation after which this chip's rows exist (`producer` without
    /// tensor).
    OpIndex scatter_rows(std::string_view what, OpIndex producer);
    /// A blocking AllReduce over tensor; nothing without tensor parallelism.
    void all_reduce_tensor(std::string_view what, double bytes);
    /// The same for t x width activations whose columns are split over tensor.
    OpIndex gather_columns(std::string_view what, double width);
    OpIndex scatter_columns(std::string_view what, double width, OpIndex producer);
    /// Over tensor_transpose, blocking (step_builder_tensor.cpp): the complete columns of a tensor way of which this chip
    /// has `width`, and back: its share of their partial sums, written from `from` on. Return the operation from
    /// which on they exist, without such ways the next one and `from`.
    OpIndex gather_transposed(std::string_view what, double width);
    OpIndex scatter_transposed(std::string_view what, double width, OpIndex from);
    /// Bytes of those complete columns; none without such ways.
    [[nodiscard]] double transposed_bytes(double width) const;
    /// A blocking AllReduce over tensor_transpose of the sums of `norms` norms over rows whose columns are split.
    void reduce_norm(std::string_view what, double norms);
    /// A blocking AllToAll over expert of the tokens (or their gradients) that experts take; nothing
    /// without expert ways. Returns the operation from which on (or after which) they are there.
    /// `back`: from the experts to where the tokens came from.
    OpIndex exchange_tokens(std::string_view what, bool back);
    /// As gather_rows and scatter_rows, of the tokens that this chip's experts take.
    OpIndex gather_tokens(std::string_view what);
    OpIndex gather_tokens_ahead(std::string_view what);
    OpIndex scatter_tokens(std::string_view what, OpIndex producer);
    /// Blocking AllGather / ReduceScatter over context of keys and values (or their gradients) of
    /// the whole sequence, with those over tensor where heads are split by columns. Return values as
    /// above.
    OpIndex gather_kv(std::string_view what);
    OpIndex scatter_kv(std::string_view what, OpIndex producer);

    /// To be called just before the first compute that writes gradients of a group: that compute
    /// will wait for the reduction that must have ended. Returns the buffer of the unreduced
    /// gradients: `carried` (a tied table's, begun earlier) or a new one.
    Gradients begin_gradients(const Weights& weights, Gradients carried = {});
    /// Issues the reduction of a group's gradients after the last compute, or what fills buckets with those that wait.
    /// The unreduced ones are held until their last ReduceScatter ends, the shard from then on; without a
    /// ReduceScatter they are the shard.
    void reduce_gradients(const Weights& weights, Gradients unreduced);
    /// The same of the layer under way, around the operation that writes the gradient of one of its matrices: the group
    /// begins with the first of its matrices and is reduced after the last.
    void begin_gradient(Matrix matrix);
    void end_gradient(Matrix matrix);

    /// The optimizer, after every reduction (as clipping by the norm of all gradients needs it). `parameters` of the
    /// whole model. ZeRO-1 and 2: a group at a time in the order of uses, each followed by its AllGather over data.
    void optimize(double parameters);

    /// Holds bytes (rounded up to whole ones) from the start of `from`. A buffer of no bytes stands for what has no
    /// rows on this chip (experts without tokens); the finished program leaves it out.
    BufferId hold(MemoryClass memory_class, double bytes, OpIndex from);
    void release(BufferId buffer, OpIndex after);
    void hold_between(MemoryClass memory_class, double bytes, OpIndex from, OpIndex to);

    /// The last operation of the chain; the next operation of any kind.
    [[nodiscard]] OpIndex last() const { return last_; }
    [[nodiscard]] OpIndex next() const { return static_cast<OpIndex>(program_.ops.size()); }

    /// A tensor of the layer under way, written by `from`, goes to the host and comes back before the layer's backward
    /// pass. `last_use` reads it last in this pass. Returns the buffer that it comes back to.
    BufferId offload(std::string_view tensor, double bytes, OpIndex from, OpIndex last_use);

    /// This chip's rows from the counterpart that sends the message: the next operation of the chain waits
    /// for them. They are asked for when the unit before this one begins.
    OpIndex receive_rows(std::string_view what, Handover handover);
    /// This chip's rows, which the last operation of the chain wrote, to the counterpart; the chain goes on.
    /// They are held until they have arrived.
    void send_rows(std::string_view what, Handover handover);
    /// A group's reduced gradients, added to those of the counterpart and it to ours (a tied table). The
    /// optimizer waits for it.
    void exchange_gradients(double parameters, const Handover& ours, const Handover& theirs);

    /// Bytes of t x D and of r x D activations.
    [[nodiscard]] double full_rows() const;
    [[nodiscard]] double local_rows() const;

    StepProgram finish();

private:
    OpIndex add(std::string name, Work work, std::vector<OpIndex> after);
    /// What the next operation of the chain waits for, from now on met.
    std::vector<OpIndex> chain();
    OpIndex add_compute(std::string name, Compute work, std::vector<OpIndex> after);
    OpIndex blocking(std::string_view what, Collective collective);
    using Axes = std::vector<std::string>;
    OpIndex block_on_gather(std::string_view what, double bytes, const Axes& axes = {"tensor"});
    OpIndex block_on_scatter(std::string_view what, double bytes, OpIndex producer,
                             const Axes& axes = {"tensor"});
    OpIndex gather_ahead(std::string_view what, double bytes);
    struct Pending;
    struct Shift;
    /// Parts of a matmul between the steps of a gather; `sums`: what each part makes for other chips goes on
    /// round the ring.
    OpIndex compute_gathered(std::string_view what, const Pending& gather, const PartOf& part,
                             bool sums);
    OpIndex add_step(std::string_view what, const Pending& array, std::uint32_t step,
                     collectives::Operation operation, int direction, bool counts,
                     std::vector<OpIndex> after);
    OpIndex add_shift(std::string_view what, const Shift& shift, bool back,
                      std::vector<OpIndex> after);
    [[nodiscard]] Compute part_of_rows(const Compute& whole, double share) const;
    [[nodiscard]] bool overlaps() const {
        return plan_.ways.tensor > 1 && plan_.overlap.tensor_steps.has_value();
    }
    OpIndex gather_over_tensor(std::string_view what, double bytes);
    OpIndex scatter_over_tensor(std::string_view what, double bytes, OpIndex producer);
    /// The first stretch in which what is needed at `position` may be under way.
    [[nodiscard]] std::size_t may_start(double position) const {
        return stretches_.first_at(position - plan_.overlap.prefetch_layers);
    }
    /// The same of a stretch's gather.
    [[nodiscard]] std::size_t may_gather(const Stretch& stretch) const;
    void begin_stretch();
    void end_stretch();
    /// Notes that the last compute has read what reads() said.
    OpIndex done_reading(OpIndex op);
    [[nodiscard]] std::size_t group(Matrix matrix) const {
        return group_of(plan_.overlap.weights, matrix);
    }
    void gather_weights(std::size_t stretch);
    void gather_part(std::size_t stretch, std::string_view what,
                     const std::vector<std::string>& axes, double bytes);
    Gradients begin_group(const std::string& name, const Weights& weights, Gradients carried);
    void reduce_group(const std::string& name, const Weights& weights, Gradients unreduced,
                      std::string_view label);
    /// Gradients that are reduced over the same axes and wait for their bucket.
    struct Bucket {
        struct Part {
            BufferId unreduced = kNoBuffer;
            double bytes = 0;    ///< that no collective has taken
            int microbatch = 0;  ///< of its group, in the order in which they end
        };
        const char* what;
        const std::vector<std::string>& axes;
        double ways = 1;
        std::vector<Part> parts{};
        double bytes = 0;  ///< of all parts
        int number = 0;    ///< of those issued
    };
    void fill(Bucket& bucket, double bytes, BufferId unreduced, int microbatch);
    /// Whether a group's gradients of all microbatches add up in one buffer.
    [[nodiscard]] bool add_up_whole(const std::vector<std::string>& axes) const {
        return axes.empty() && plan_.zero < 2;
    }
    /// Reduces the first so many bytes of a bucket. Returns the last operation.
    OpIndex reduce(Bucket& bucket, double bytes, std::string_view label = {});
    /// Reduces all that waits, as one entry of reductions_.
    void flush(std::string_view label = {});
    /// What must have ended before another group's gradients are written.
    void wait_for_reductions(std::size_t pending);
    void optimize_shards(double parameters);
    OpIndex add_collective(std::string name, Collective collective, std::vector<OpIndex> after);
    /// Adds what a collective waits for while too many are in flight.
    void wait_for_turn(std::vector<OpIndex>& after) const;
    /// A group as it is split over expert: without expert ways, experts are like all other weights.
    [[nodiscard]] Weights split(const Weights& weights) const;
    [[nodiscard]] double token_bytes() const;
    [[nodiscard]] std::string name(std::string_view what) const;
    [[nodiscard]] std::string of_microbatch(int microbatch) const;
    /// `qkv `, `attention `, or nothing of a whole layer: before `weights` and `gradients`.
    [[nodiscard]] std::string label_of(std::size_t group) const;
    /// This chip's share of a group's parameters, split over tensor, fsdp, context and expert.
    [[nodiscard]] double local(double parameters) const {
        return parameters / (plan_.ways.of_matrix() * dense_ways_);
    }

    const TrainingPlan plan_;
    const Shard shard_;
    const std::vector<WeightUse> uses_;
    const Stretches stretches_;
    std::vector<LayerWeights> layers_;
    std::vector<std::string> tensor_axes_;  ///< tensor and tensor_transpose that have members
    std::vector<std::string> expert_axes_;  ///< those of fsdp and context that have members
    std::vector<std::string> dense_axes_;   ///< those and expert
    double expert_ways_ = 1;
    double dense_ways_ = 1;

    StepProgram program_;
    std::string part_;
    int layer_ = -1;
    Pass pass_{};
    OpIndex last_ = kWholeStep;  ///< kWholeStep before the first operation of the chain
    OpIndex last_compute_ = kWholeStep;
    std::vector<OpIndex> waits_;  ///< of the next compute beside the chain
    /// Of the next operation of the chain: what came before the receive at its end.
    OpIndex before_receive_ = kWholeStep;
    int microbatch_ = 0;
    OpIndex unit_began_ = kWholeStep;  ///< the chain's end then
    OpIndex unit_before_began_ = kWholeStep;
    std::vector<OpIndex> sums_;   ///< of an overlapped scatter: the chain waits for them too
    bool scattered_ = false;      ///< the matmul before the next scatter has carried it out
    std::vector<OpIndex> ahead_;  ///< gathers that await_rows waits for
    /// A gather that overlaps with the matmul to come.
    struct Pending {
        std::string what;
        double bytes = 0;
        Purpose purpose = Purpose::tensor;
        [[nodiscard]] bool keys() const { return purpose == Purpose::context; }
    };
    [[nodiscard]] const collectives::SteppedGather& order(const Pending& gather) const {
        return gather.keys() ? *plan_.overlap.context_steps : *plan_.overlap.tensor_steps;
    }
    std::optional<Pending> pending_;

    std::size_t use_ = 0;                    ///< uses begun
    std::size_t stretch_ = 0;                ///< stretches begun
    std::vector<OpIndex> stretch_ends_;      ///< last compute of every ended stretch
    std::vector<std::vector<Matrix>> read_;  ///< by use
    std::vector<OpIndex> turn_ends_;         ///< of a loop: what the next turn's gathers wait for
    bool reading_ = false;                   ///< the next compute reads the stretch's group
    std::array<OpIndex, kMatrices.size()> read_by_{};  ///< last reader of each group of this use
    /// The tensors of one use of a layer that go to the host.
    struct Offloaded {
        struct Tensor {
            std::string name;
            OpIndex written_by = kWholeStep;
            BufferId leaves = kNoBuffer;
            BufferId returns = kNoBuffer;
            OpIndex stored = kWholeStep;
        };
        std::size_t use = 0;   ///< that writes them
        std::size_t back = 0;  ///< that needs them again
        std::vector<Tensor> tensors{};
        bool awaited = false;            ///< some use has waited until they were stored
        std::vector<OpIndex> fetched{};  ///< empty: not yet under way
    };
    std::vector<Offloaded> offloaded_;  ///< those that have not come back
    /// At the beginning of a stretch.
    void begin_transfers(std::size_t stretch);
    /// The stretch that waits until a layer's tensors are stored.
    [[nodiscard]] std::size_t awaits(const Offloaded& layer) const;
    void store(Offloaded& layer);
    void fetch(Offloaded& layer);
    OpIndex add_transfer(std::size_t use, std::string_view what, bool to_host, BufferId buffer,
                         std::vector<OpIndex> after);
    /// What a stretch waits for, and what is released in the end; nothing without sharded weights.
    struct Gathered {
        std::vector<OpIndex> ops;
        std::vector<BufferId> buffers;
    };
    std::vector<Gathered> gathered_;  ///< by stretch

    std::vector<std::vector<OpIndex>> reductions_;  ///< last operations of every reduction
    std::size_t reductions_waited_ = 0;  ///< those that a compute operation has waited for
    Bucket dense_bucket_{"gradients", dense_axes_};
    Bucket expert_bucket_{"expert gradients", expert_axes_};
    std::vector<OpIndex> collectives_;  ///< all of them

    /// Gradients of a group that add up over microbatches.
    struct Accumulated {
        Gradients whole;  ///< those that are not reduced and scattered
        int begun = 0;
        int reduced = 0;
    };
    std::map<std::string, Accumulated> accumulated_;  ///< by part, or part and group
    /// Gradients of a group of the layer under way.
    struct OpenGroup {
        Gradients unreduced;
        unsigned written = 0;  ///< bits of matrices
    };
    std::map<std::size_t, OpenGroup> open_;
    double reread_ = 0;  ///< bytes of gradients that the next compute adds to
};

}  // namespace podsim::workloads
