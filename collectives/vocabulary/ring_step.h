// Single steps of an AllGather or ReduceScatter along a ring, for matmuls that overlap them
// (algorithms/ring_step_schedule.h).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "sim/base/quantity.h"

namespace podsim::collectives {

/// One ring step of an AllGather or ReduceScatter over a group: every member sends `bytes` to the
/// next one of the ring along one factor of the group (ring_step_schedule.h). `factor` is its index
/// within the group. Direction 1 is forward, -1 back, and 0, on a ring of two, half of the bytes in
/// each direction. With `senders` only the members from the first to the last of them send, each to
/// its neighbour along the group's one factor: no ring is closed, and members are counted along the
/// factor.
struct RingStep {
    int factor = 0;
    int direction = 1;
    sim::Bytes bytes;
    std::optional<std::pair<int, int>> senders{};
    friend auto operator<=>(const RingStep&, const RingStep&) = default;
};

/// An AllGather as ring steps, by ring_step_schedule.h.
struct SteppedGather {
    struct Step {
        int factor = 0;     ///< index within the group
        int direction = 1;  ///< as in RingStep
        double share = 0;   ///< fraction of V
        /// Steps that must have arrived (in a ReduceScatter, steps that wait for this one).
        std::vector<std::uint32_t> after;
        bool own = false;  ///< carries the member's own block

        friend bool operator==(const Step&, const Step&) = default;
    };
    /// Blocks that arrive at once. Pieces are in the order of arrival; the first is the member's
    /// own block.
    struct Piece {
        double share = 0;  ///< fraction of V; all add up to 1
        std::vector<std::uint32_t> steps;

        friend bool operator==(const Piece&, const Piece&) = default;
    };
    std::vector<Step> steps;
    std::vector<Piece> pieces;
    /// With one factor: its members in the order in which a step in direction 1 passes blocks on.
    std::vector<int> ring{};

    /// One-way along one factor: returns the member whose block is the i-th piece to arrive at
    /// `member`.
    [[nodiscard]] int source(int member, std::size_t piece) const;

    friend bool operator==(const SteppedGather&, const SteppedGather&) = default;
};

}  // namespace podsim::collectives
