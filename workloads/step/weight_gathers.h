// Gathers of weights: uses, their stretches, and how far gathers run ahead of them.
//
// A use is one pass over a layer (or embedding, or unembedding). Its gather is an AllGather of V =
// parameters / T x compute bytes over fsdp x context (none if those are 1; weight_sharding.h). The
// gather of use u waits for the last compute of use u - 1 - prefetch, so that prefetch + 1 gathered
// buffers are alive. The first compute of use u waits for its gather. A collective of use u that
// precedes its first compute does not wait.
//
// Weights in several groups (Overlap::weights): a use is a sequence of m stretches of compute, each
// of which reads one group. They begin at u, u + 1/m, ... A group is gathered once a use, by
// itself, for its first stretch there. If that is at x, the gather follows the last compute of the
// stretch before the first that begins at x - prefetch or later; the first compute of the stretch
// waits. The group is held until the use's last compute that reads it. (One group: m = 1.)
//
// In a loop of layers (layer_loop) a gather waits at least for all compute and reductions of the
// uses before its own, and so does the first compute of a use. Weights are gathered for every use,
// and so for every microbatch anew. A gather needs nothing, because the parameters exist from the
// start; everything that it waits for only bounds it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/plan/overlap.h"
#include "workloads/plan/precision.h"
#include "workloads/plan/weight_sharding.h"
#include "workloads/program/chain.h"
#include "workloads/program/held_buffers.h"
#include "workloads/program/weight_uses.h"

namespace podsim::workloads {

/// Writer of the gathers of a program's uses of weights.
class WeightGathers {
public:
    /// `uses` are in the order in which begin_use will be called.
    WeightGathers(const Overlap& overlap, const Precision& precision,
                  const WeightSharding& sharding, OpNames& names, Chain& chain,
                  HeldBuffers& buffers, std::vector<WeightUse> uses);

    /// Starts the next use and issues the gathers that may start now. Names and layer of the
    /// following operations are those of the use.
    void begin_use();
    void end_use() { end_stretch(); }
    /// Notes that the next compute reads a matrix of the use's layer. Returns true if a stretch has
    /// begun with it, because the matrix is of another group. To be called before the compute's
    /// writes, or gathers, are numbered.
    bool reads(Matrix matrix);
    /// Returns the operations that make the weights of the current stretch.
    [[nodiscard]] const Sources& gathered() const;
    /// Notes that the last compute has read them.
    void were_read();
    /// In a loop of layers: sets the operations that the gathers of the next iteration wait for.
    void begin_turn(Sources after) { turn_ = std::move(after); }

    /// Returns the matrices read in each use so far.
    [[nodiscard]] const std::vector<std::vector<Matrix>>& matrices_read() const { return read_; }

    [[nodiscard]] const std::vector<WeightUse>& uses() const { return uses_; }
    /// Return the use of the current stretch, and its index among all stretches.
    [[nodiscard]] std::size_t use() const { return use_ - 1; }
    [[nodiscard]] std::size_t stretch() const { return stretch_ - 1; }
    /// Returns the first stretch that begins at `position`, in uses, or later.
    [[nodiscard]] std::size_t first_at(double position) const {
        return stretches_.first_at(position);
    }
    /// Returns the last compute of an ended stretch.
    [[nodiscard]] OpIndex end_of(std::size_t stretch) const { return stretch_ends_[stretch]; }

private:
    /// Returns the first stretch in which a stretch's gather may be under way.
    [[nodiscard]] std::size_t may_gather(const Stretch& stretch) const;
    void begin_stretch();
    void end_stretch();
    void gather(std::size_t stretch);
    /// Returns the bytes of a layer's weights that a stretch gathers.
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
    /// Operations that a stretch waits for, and buffers that are released at its end; none
    /// without sharded weights.
    struct Gathered {
        Sources ops;
        std::vector<BufferId> buffers;
    };
    std::vector<Gathered> gathered_;  ///< by stretch
};

}  // namespace podsim::workloads
