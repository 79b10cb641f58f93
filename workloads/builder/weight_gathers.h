// The gathers of weights: uses, their stretches, and how far gathers run ahead of them.
//
// A use is one pass over a layer (or embedding, or unembedding). Its gather is an AllGather of V = parameters / T x
// compute bytes over fsdp x context (none when those are 1; weight_sharding.h). Use u's gather waits for the last
// compute of use u - 1 - prefetch, so prefetch + 1 gathered buffers are alive; the first compute of use u waits for
// its gather. A collective of use u that comes before its first compute does not wait.
// Weights in several groups (Overlap::weights): a use is a row of m stretches, each of compute that reads one
// group; they begin at u, u + 1/m, ... A group is gathered once a use, by itself: for its first stretch there, at x,
// after the last compute of the stretch before the first that begins at x - prefetch or later; the first compute of
// the stretch waits. It is held until the use's last compute that reads it. (One group: m = 1.)
// In a loop of layers (layer_loop) a gather waits at least for all compute and reductions of the uses before its own,
// and so does the first compute of a use.
// Microbatches: weights are gathered for every use, that is for every microbatch anew.
// A gather needs nothing, as the parameters are there from the start; all that it waits for bounds it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/chain/chain.h"
#include "workloads/chain/held_buffers.h"
#include "workloads/chain/weight_uses.h"
#include "workloads/plan/overlap.h"
#include "workloads/plan/precision.h"
#include "workloads/plan/weight_sharding.h"

namespace podsim::workloads {

class WeightGathers {
public:
    /// `uses` in the order in which begin_use will be called.
    WeightGathers(const Overlap& overlap, const Precision& precision,
                  const WeightSharding& sharding, OpNames& names, Chain& chain,
                  HeldBuffers& buffers, std::vector<WeightUse> uses);

    /// Starts the next use: issues the gathers that may start now. Names and layer of the following
    /// operations are those of the use.
    void begin_use();
    void end_use() { end_stretch(); }
    /// The next compute reads a matrix of the use's layer. Returns whether a stretch has begun with it, where the
    /// matrix is of another group. To be called before what the compute writes, or gathers, is numbered.
    bool reads(Matrix matrix);
    /// What makes the weights of the stretch under way.
    [[nodiscard]] const Sources& gathered() const;
    /// The last compute has read them.
    void were_read();
    /// In a loop of layers: what the gathers of the next turn wait for.
    void begin_turn(Sources after) { turn_ = std::move(after); }

    /// What has been read in each use so far.
    [[nodiscard]] const std::vector<std::vector<Matrix>>& matrices_read() const { return read_; }

    [[nodiscard]] const std::vector<WeightUse>& uses() const { return uses_; }
    /// The use of the stretch under way, and its place among all stretches.
    [[nodiscard]] std::size_t use() const { return use_ - 1; }
    [[nodiscard]] std::size_t stretch() const { return stretch_ - 1; }
    /// The first stretch that begins at `position`, in uses, or later.
    [[nodiscard]] std::size_t first_at(double position) const {
        return stretches_.first_at(position);
    }
    /// The last compute of an ended stretch.
    [[nodiscard]] OpIndex end_of(std::size_t stretch) const { return stretch_ends_[stretch]; }

private:
    /// The first stretch in which a stretch's gather may be under way.
    [[nodiscard]] std::size_t may_gather(const Stretch& stretch) const;
    void begin_stretch();
    void end_stretch();
    void gather(std::size_t stretch);
    /// Bytes of a layer's weights that a stretch gathers.
    [[nodiscard]] Weights bytes_of(const Stretch& of, const WeightUse& use) const;
    void gather_part(std::size_t stretch, std::string_view what,
                     const std::vector<std::string>& axes, double bytes);

    const Overlap& overlap_;
    const Precision precision_;
    const WeightSharding& sharding_;
    OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
    const std::vector<WeightUse> uses_;
    const Stretches stretches_;

    std::size_t use_ = 0;                    ///< uses begun
    std::size_t stretch_ = 0;                ///< stretches begun
    std::vector<OpIndex> stretch_ends_;      ///< last compute of every ended stretch
    std::vector<std::vector<Matrix>> read_;  ///< by use
    Sources turn_;
    std::array<OpIndex, kMatrices.size()> read_by_{};  ///< last reader of each group of this use
    /// What a stretch waits for, and what is released in the end; nothing without sharded weights.
    struct Gathered {
        Sources ops;
        std::vector<BufferId> buffers;
    };
    std::vector<Gathered> gathered_;  ///< by stretch
};

}  // namespace podsim::workloads
