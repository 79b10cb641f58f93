// The gradients of a step: their sums over microbatches, buckets and reductions, and the optimizer.
//
// Reductions. ReduceScatter over fsdp x context (V = parameters / T x gradient bytes; weight_sharding.h), then AllReduce over data of the shard (ZeRO-1 and 2: another
//   ReduceScatter). One for each group of weights after the last compute that writes its gradients, or, with buckets, as soon as the bytes that wait fill one; the rest goes
//   before the optimizer. The first compute that writes a group's gradients waits until fewer than reductions_in_flight are pending. In a loop of layers a turn ends with
//   its reductions; where they run on (Overlap::data_runs_on), that over data ends with the next turn.
// Microbatches. GradientReduction::data_once: a group's gradients are reduced and scattered for every microbatch, and the shards add up; the AllReduce over data (ZeRO-1:
//   the ReduceScatter) comes once, after the last. `each`: the AllReduce over data, too, comes for every microbatch, of ZeRO-1 as well, since the sum stays whole. `once`:
//   gradients add up whole, and both come after the last. ZeRO-2 has the ReduceScatter over data for every microbatch. Where they add up whole, the first operation that
//   writes a group's gradients also reads them from the second microbatch on. Adding up what was reduced costs nothing, as in a reduction. No bucket holds gradients of two
//   microbatches.
// Optimizer. One update after all reductions (as clipping by the norm of all gradients needs it); ZeRO-1 and 2: each group's share, then an AllGather over data of the
//   group's parameters, which the step's end waits for (the next forward pass needs them: nothing hides the last). The first update makes the norm that the others take.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/chain/chain.h"
#include "workloads/chain/held_buffers.h"
#include "workloads/chain/weight_uses.h"
#include "workloads/plan/weight_sharding.h"

namespace podsim::workloads {

struct TrainingPlan;

/// A group's gradients while they are written.
struct Gradients {
    BufferId dense = kNoBuffer;
    BufferId experts = kNoBuffer;
    Sources written_by{};
    Sources added_to{};  ///< what has made the sums that they add to
    double reread = 0;   ///< bytes of those sums, which the first write reads
};

class GradientReductions {
public:
    GradientReductions(const TrainingPlan& plan, const WeightSharding& sharding, OpNames& names,
                       Chain& chain, HeldBuffers& buffers);

    /// To be called just before the first compute that writes gradients of a group, by its name: that compute will wait for the reduction that must have ended. Where other
    /// parts write the group too: with what they have begun of it, `carried`, which is returned.
    Gradients begin(const std::string& group, const Weights& weights, Gradients carried = {});
    /// The compute that writes some of them.
    Tensor write(Gradients& gradients, std::string_view what, Compute work, Sources needs);
    /// Issues the reduction of a group's gradients after the last compute, or what fills buckets with those that wait. The unreduced ones are held until their last
    /// ReduceScatter ends, the shard from then on; without a ReduceScatter they are the shard.
    void reduce(const Weights& weights, const Gradients& unreduced);

    /// Around the compute that writes the gradient of one matrix of the layer under way: the group begins with the first of its matrices (begin_matrix: where something is
    /// gathered in between) and is reduced after the last.
    void begin_matrix(Matrix matrix);
    Tensor write_matrix(Matrix matrix, std::string_view what, Compute work, Sources needs);

    /// No bucket holds gradients of two microbatches.
    void end_unit();
    /// In a loop of layers: reduces what waits, and lets the next compute wait for all of it. Returns what was pending.
    Sources end_turn();

    /// What is left of the buckets at the end of a step.
    void reduce_rest();
    /// The optimizer, behind that. `parameters` of the whole model that the chip's stage holds; ZeRO-1 and 2: a group at a time in the order of uses.
    void optimize(double parameters, const std::vector<WeightUse>& uses);
    /// A group's reduced gradients, added to those of the counterpart and it to ours (a tied table). The optimizer waits for it.
    void exchange(const std::string& group, double parameters, const Handover& ours,
                  const Handover& theirs);

private:
    /// Gradients of a group, over microbatches.
    struct Sums {
        Gradients whole;  ///< those that are not reduced and scattered
        Sources shards;   ///< what has reduced and scattered them so far
        Sources reduced;  ///< what makes its reduced gradients
        int begun = 0;
        int ended = 0;
    };
    /// Gradients that are reduced over the same axes and wait for their bucket.
    struct Bucket {
        struct Part {
            BufferId unreduced = kNoBuffer;
            double bytes = 0;    ///< that no collective has taken
            int microbatch = 0;  ///< of its group, in the order in which they end
            Sources written_by{};
            Sums* sums = nullptr;
        };
        const char* what;
        const std::vector<std::string>& axes;
        double ways = 1;
        std::vector<Part> parts{};
        double bytes = 0;  ///< of all parts
        int number = 0;    ///< of those issued
    };
    /// What one collective, or two, reduce of a bucket.
    struct Taken {
        std::vector<BufferId> whole{};  ///< buffers of which nothing is left
        Sources written_by{};
        std::vector<Sums*> sums{};
        int microbatch = 0;
    };

    /// With dynamic scales: what makes the largest magnitudes of a weight gradient's operands, whose tokens are split. A replica along data, a slice as a rule, has scales
    /// of its own (AQT's local quantisation).
    Sources with_scales(Matrix matrix, std::string_view what, const Compute& work, Sources needs);
    void reduce_group(const std::string& name, const Weights& weights, const Gradients& unreduced,
                      std::string_view label);
    static Taken take(Bucket& bucket, double bytes);
    void release_whole(Taken& taken, OpIndex after);
    static void fill(Bucket& bucket, Bucket::Part part);
    /// Whether a group's gradients of all microbatches add up in one buffer before they are reduced.
    [[nodiscard]] bool add_up_whole(const std::vector<std::string>& axes) const;
    /// Reduces the first so many bytes of a bucket. Returns the last operation.
    OpIndex reduce_bucket(Bucket& bucket, double bytes, std::string_view label = {});
    /// Reduces all that waits, as one entry of reductions_.
    void flush(std::string_view label = {});
    [[nodiscard]] bool waiting() const { return dense_.bytes > 0 || experts_.bytes > 0; }
    /// What must have ended before another group's gradients are written.
    void wait_for_reductions(std::size_t pending);
    /// The operations of reductions that no compute has waited for.
    [[nodiscard]] Sources pending() const;
    /// What makes the reduced gradients of all groups.
    [[nodiscard]] Sources reduced() const;
    /// The norm of all gradients that the optimizer is to clip: what makes it, after `needs`. Stages of a pipeline have one each (their sums' sum would be a number more
    /// between stages).
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
    /// Reductions over data of the turn under way, which the end of the next one waits for, and those that its own waits for.
    Sources next_turn_;
    Sources this_turn_;
    std::size_t reductions_waited_ = 0;  ///< those that a compute operation has waited for
    std::map<std::string, Sums> sums_;   ///< by part, or part and group
    /// Gradients of a group of the layer under way.
    struct OpenGroup {
        Gradients gradients;
        unsigned written = 0;  ///< bits of matrices
    };
    std::map<std::size_t, OpenGroup> open_;
};

}  // namespace podsim::workloads
