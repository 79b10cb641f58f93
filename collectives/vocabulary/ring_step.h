// Single steps of an AllGather or ReduceScatter along a ring, for matmuls that overlap them
// (algorithms/ring_steps.h).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "sim/base/quantity.h"

namespace podsim::collectives {

/// One ring step of an AllGather or ReduceScatter over a group: every member sends `bytes` to the next one of
/// the ring along one factor of the group (ring_steps.h). `factor` is its index within the group. Direction 1 is forward, -1 back,
/// and 0, on a ring of two, half of the bytes each way.
/// With `senders` only the members from the first to the last of them send, each to its neighbour along the group's one
/// factor: no ring is closed, and members are counted along the factor.
struct RingStep {
    int factor = 0;
    int direction = 1;
    sim::Bytes bytes;
    std::optional<std::pair<int, int>> senders{};
    friend auto operator<=>(const RingStep&, const RingStep&) = default;
};

/// An AllGather as ring steps, by ring_steps.h.
struct SteppedGather {
    struct Step {
        int factor = 0;     ///< index within the group
        int direction = 1;  ///< as of RingStep
        double share = 0;   ///< of V
        std::vector<std::uint32_t>
            after;  ///< steps that must have arrived (of a ReduceScatter: that wait for this one)
        bool own = false;  ///< carries the member's own block

        friend bool operator==(const Step&, const Step&) = default;
    };
    /// What comes at once, in the order in which it comes; the first is the member's own block.
    struct Piece {
        double share = 0;  ///< of V; all add up to 1
        std::vector<std::uint32_t> steps;

        friend bool operator==(const Piece&, const Piece&) = default;
    };
    std::vector<Step> steps;
    std::vector<Piece> pieces;
    /// Of one factor: its members in the order in which a step in direction 1 passes blocks on.
    std::vector<int> ring{};

    /// One-way along one factor: the member whose block is the i-th piece to come to a member.
    [[nodiscard]] int source(int member, std::size_t piece) const;

    friend bool operator==(const SteppedGather&, const SteppedGather&) = default;
};

}  // namespace podsim::collectives
