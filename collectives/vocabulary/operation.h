// The vocabulary of collectives: what is asked for, of whom, and how many bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity.h"
#include "topology/mesh/mesh.h"

namespace podsim::collectives {

enum class Operation {
    all_gather,
    reduce_scatter,
    all_reduce,
    all_to_all,
    permute,    ///< every member's share to the member `shift` ranks further
    send,       ///< from one chip to another
    broadcast,  ///< from one member to all
    gather,     ///< every member's share to one member
    scatter,    ///< and back
};

/// Which members an operation is between, where they are not all alike. A root stands for its place
/// in the group: every group does the same at once, from the member at that place.
struct Ends {
    topology::Point root{};  ///< of a broadcast, gather or scatter; of a send the chip that sends
    topology::Point to{};    ///< of a send
    int shift = 1;           ///< of a permute; ranks count the chips of a group with z fastest
    /// Of an AllToAll: what each member takes from every other (`returning`: gives to every other), over the mean,
    /// by rank; empty: all alike.
    std::vector<double> loads{};
    bool returning = false;
};

/// `all-gather`, `reduce-scatter`, `all-reduce`, `all-to-all`, `permute`, `send`, `broadcast`, `gather`,
/// `scatter`.
std::string_view to_string(Operation operation);
/// Reads the names above. Throws sim::InputError with the nearest valid one.
Operation parse_operation(std::string_view text);
/// Every operation, in the order of the enumeration.
std::span<const Operation> all_operations();

/// The members of one collective: the product of factors of physical axes, as DeviceMesh::group
/// returns them (merged, none of length 1, sorted). Every chip of the slice is in one such group.
using Group = std::vector<topology::AxisFactor>;

/// From or to one member: broadcast, gather and scatter.
constexpr bool is_rooted(Operation operation) {
    return operation == Operation::broadcast || operation == Operation::gather ||
           operation == Operation::scatter;
}

/// One ring step of an AllGather or ReduceScatter over a group: every member sends `bytes` to the next one of
/// the ring along one factor of the group (ring_steps.h). `factor` is its index within the group.
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
        int factor = 0;  ///< index within the group
        int direction = 1;
        double share = 0;  ///< of V
        std::vector<std::uint32_t>
            after;  ///< steps that must have arrived (of a ReduceScatter: that wait for this one)
        bool own = false;  ///< carries the member's own block
    };
    /// What comes at once, in the order in which it comes; the first is the member's own block.
    struct Piece {
        double share = 0;  ///< of V; all add up to 1
        std::vector<std::uint32_t> steps;
    };
    std::vector<Step> steps;
    std::vector<Piece> pieces;
    /// Of one factor: its members in the order in which a step in direction 1 passes blocks on.
    std::vector<int> ring{};

    /// One-way along one factor: the member whose block is the i-th piece to come to a member.
    [[nodiscard]] int source(int member, std::size_t piece) const;
};

/// Number of members n.
int group_size(const Group& group);

/// A group that may have members in several slices: the chips of `group` in each of `across`.
struct Members {
    Group group{};
    topology::SliceFactor across{};

    [[nodiscard]] int size() const { return group_size(group) * across.length; }
    friend bool operator==(const Members&, const Members&) = default;
};

}  // namespace podsim::collectives
