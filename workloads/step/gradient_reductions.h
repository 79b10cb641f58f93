// Gradients of a step: their sums over microbatches, buckets and reductions, and the optimizer.
//
// Reductions. A ReduceScatter over fsdp x context (V = parameters / T x gradient bytes;
// weight_sharding.h) is followed by an AllReduce of the shard over data (ZeRO-1 and 2: another
// ReduceScatter). Each group of weights has one after the last compute that writes its gradients.
// With buckets there is one as soon as the waiting bytes fill a bucket; the rest goes before the
// optimizer. The first compute that writes a group's gradients waits until fewer than
// reductions_in_flight are pending. In a loop of layers an iteration ends with its reductions. If
// they run on (Overlap::data_runs_on), the reduction over data ends with the next iteration.
//
// Microbatches.
// - GradientReduction::data_once: a group's gradients are reduced and scattered for every
//   microbatch, and the shards add up. The AllReduce over data (ZeRO-1: the ReduceScatter) comes
//   once, after the last microbatch.
// - `each`: the AllReduce over data, too, comes for every microbatch, also with ZeRO-1, since the
//   sum stays whole.
// - `once`: gradients add up whole, and both come after the last microbatch.
// ZeRO-2 has the ReduceScatter over data for every microbatch. If gradients add up whole, the first
// operation that writes a group's gradients also reads them from the second microbatch on. Adding
// up reduced gradients is free, as in a reduction. No bucket holds gradients of two microbatches.
//
// Optimizer. One update follows all reductions (clipping by the norm of all gradients needs it).
// With ZeRO-1 and 2 there is an update of each group's shard, then an AllGather over data of the
// group's parameters. The step's end waits for it, since the next forward pass needs them; nothing
// hides the last. The first update makes the norm that the others take.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/plan/weight_sharding.h"
#include "workloads/program/chain.h"
#include "workloads/program/held_buffers.h"
#include "workloads/program/weight_uses.h"

namespace podsim::workloads {

struct TrainingPlan;

/// A group's gradients while they are written.
struct Gradients {
    BufferId dense = kNoBuffer;
    BufferId experts = kNoBuffer;
    Sources written_by{};
    Sources added_to{};  ///< operations that made the sums that they add to
    double reread = 0;   ///< bytes of those sums, which the first write reads
};

/// Writer of a step's gradients, their reductions and the optimizer.
class GradientReductions {
public:
    GradientReductions(const TrainingPlan& plan, const WeightSharding& sharding, OpNames& names,
                       Chain& chain, HeldBuffers& buffers);

    /// Begins the gradients of a group, by its name; called just before the first compute that
    /// writes them. That compute waits for the reduction that must have ended. If other parts write
    /// the group too, `carried` has the gradients that they have begun, and is returned.
    Gradients begin(const std::string& group, const Weights& weights, Gradients carried = {});
    /// Adds the compute that writes gradients of the group.
    Tensor write(Gradients& gradients, std::string_view what, Compute work, Sources needs);
    /// Issues the reduction of a group's gradients after the last compute or, with those that wait,
    /// as many buckets as they fill. The unreduced gradients are held until their last
    /// ReduceScatter ends, the shard from then on. Without a ReduceScatter they are the shard.
    void reduce(const Weights& weights, const Gradients& unreduced);

    /// Called around the compute that writes the gradient of one matrix of the current layer. The
    /// group begins with the first of its matrices (begin_matrix: if something is gathered in
    /// between) and is reduced after the last.
    void begin_matrix(Matrix matrix);
    Tensor write_matrix(Matrix matrix, std::string_view what, Compute work, Sources needs);

    /// Ends a unit: no bucket holds gradients of two microbatches.
    void end_unit();
    /// In a loop of layers: reduces the waiting gradients, and lets the next compute wait for all
    /// of it. Returns the operations that were pending.
    Sources end_turn();

    /// Reduces the rest of the buckets at the end of a step.
    void reduce_rest();
    /// Adds the rest's reduction and the optimizer. `parameters` are those of the whole model that
    /// the chip's stage holds. ZeRO-1 and 2 update one group at a time, in the order of uses.
    void optimize(double parameters, const std::vector<WeightUse>& uses);
    /// Exchanges a group's reduced gradients with the counterpart, and each adds the other's to its
    /// own (a tied table). The optimizer waits for it.
    void exchange(const std::string& group, double parameters, const Handover& ours,
                  const Handover& theirs);

private:
    /// Gradients of a group, over microbatches.
    struct Sums {
        Gradients whole;  ///< those that are not reduced and scattered
        Sources shards;   ///< operations that have reduced and scattered them so far
        Sources reduced;  ///< operations that make its reduced gradients
        int begun = 0;
        int ended = 0;
    };
    /// Gradients that are reduced over the same axes and wait for their bucket.
    struct Bucket {
        struct Part {
            BufferId unreduced = kNoBuffer;
            double bytes = 0;    ///< not yet taken by a collective
            int microbatch = 0;  ///< of its group, in the order in which they end
            Sources written_by{};
            Sums* sums = nullptr;
        };
        const char* what;
        const std::vector<std::string>& axes;
        double ways = 1;
        std::vector<Part> parts{};
        double bytes = 0;  ///< of all parts
        int number = 0;    ///< of the next bucket
    };
    /// Gradients that one collective, or two, take from a bucket.
    struct Taken {
        std::vector<BufferId> whole{};  ///< buffers taken to the end
        Sources written_by{};
        std::vector<Sums*> sums{};
        int microbatch = 0;
    };

    /// With dynamic scales: returns the operation that finds the largest magnitudes of a weight
    /// gradient's operands, whose tokens are split. A replica along data, as a rule a slice, has
    /// its own scales (AQT's local quantisation).
    Sources with_scales(Matrix matrix, std::string_view what, const Compute& work, Sources needs);
    void reduce_group(const std::string& name, const Weights& weights, const Gradients& unreduced,
                      std::string_view label);
    static Taken take(Bucket& bucket, double bytes);
    void release_whole(Taken& taken, OpIndex after);
    static void fill(Bucket& bucket, Bucket::Part part);
    /// True if a group's gradients of all microbatches add up in one buffer
    /// before they are reduced.
    [[nodiscard]] bool add_up_whole(const std::vector<std::string>& axes) const;
    /// Reduces the first `bytes` of a bucket. Returns the last operation.
    OpIndex reduce_bucket(Bucket& bucket, double bytes, std::string_view label = {});
    /// Reduces all waiting gradients, as one entry of reductions_.
    void flush(std::string_view label = {});
    [[nodiscard]] bool waiting() const { return dense_.bytes > 0 || experts_.bytes > 0; }
    /// Lets the next compute wait until at most `pending` reductions have not ended.
    void wait_for_reductions(std::size_t pending);
    /// Returns the operations of reductions that no compute has waited for.
    [[nodiscard]] Sources pending() const;
    /// Returns the operations that make the reduced gradients of all groups.
    [[nodiscard]] Sources reduced() const;
    /// Returns the operation that makes the norm of all gradients for clipping, after
    /// `needs`. Each stage of a pipeline has its own (the sum of their sums would be one more
    /// number between stages).
    Sources norm(double parameters, Sources needs);
    void optimize_shards(double parameters, const std::vector<WeightUse>& uses, Sources needs);

    const TrainingPlan& plan_;
    const WeightSharding& sharding_;
    OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
    Bucket dense_;
    Bucket experts_;
    std::vector<Sources> reductions_;  ///< last operations of every reduction
    /// Reductions over data of the current iteration, which the end of the next one waits for, and
    /// those that its own end waits for.
    Sources next_turn_;
    Sources this_turn_;
    std::size_t reductions_waited_ = 0;  ///< those that a compute operation has waited for
    std::map<std::string, Sums> sums_;   ///< by part, or part and group
    /// Gradients of a group of the current layer.
    struct OpenGroup {
        Gradients gradients;
        unsigned written = 0;  ///< bits of matrices
    };
    std::map<std::size_t, OpenGroup> open_;
};

}  // namespace podsim::workloads
