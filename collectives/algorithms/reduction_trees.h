// The spanning trees along which an AllReduce sums and broadcasts back (reduce_broadcast.h).
//
// A node of a tree is a position in the group relative to the tree: along a line the coordinate,
// along a ring the distance ahead of the root. Nodes are numbered with the first factor fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/algorithms/parts.h"
#include "collectives/paths/roles.h"
#include "sim/base/quantity.h"

namespace podsim::collectives {

struct ReductionTree {
    std::vector<int> order;  ///< factors, that of the outermost leaves first
    std::vector<int> spine;  ///< [factor]: the root's position on a line; 0 on a ring
    int opposite = 1;        ///< direction in which an even ring's opposite member is joined
    sim::Bytes bytes;        ///< of one root's shard
    std::uint32_t messages = 1;
};

/// A step of a tree along a factor.
struct TreeStep {
    int factor = 0;
    int direction = 1;
};

class ReductionTrees {
public:
    /// Plants the trees of an array of `v` bytes, divided into the parts. Keeps references to the
    /// group and the roles. Throws sim::InputError beyond 20 million messages.
    ReductionTrees(const Group& group, const Roles& roles, const std::vector<Part>& parts,
                   sim::Bytes v, sim::Bytes message_cap);

    [[nodiscard]] const std::vector<ReductionTree>& all() const { return trees_; }
    [[nodiscard]] int nodes() const { return nodes_; }
    [[nodiscard]] std::uint32_t most_messages() const { return most_messages_; }
    /// Returns the links one after the other, to the root and back.
    [[nodiscard]] int hops() const { return hops_; }

    /// Returns the step towards the root; nothing at the root.
    [[nodiscard]] std::optional<TreeStep> parent(const ReductionTree& tree, int node) const;
    /// Returns the step to the parent (none at the root), then those to the children.
    [[nodiscard]] std::vector<TreeStep> steps(const ReductionTree& tree, int node) const;
    /// Returns the node that a step leads to.
    [[nodiscard]] int moved(int node, const TreeStep& step) const {
        const int n = length(step.factor);
        const int at = coordinate(node, step.factor);
        return node +
               ((at + step.direction + n) % n - at) * unit_[static_cast<std::size_t>(step.factor)];
    }
    /// True if a member of this role can be that node: lines by position, rings anywhere.
    [[nodiscard]] bool plays(std::uint32_t role, int node) const;
    /// Returns a node's position on the rings: sum of its distances ahead of the root x ring
    /// lengths before.
    [[nodiscard]] int ring_block(int node) const;

private:
    [[nodiscard]] int length(int factor) const {
        return group_[static_cast<std::size_t>(factor)].length;
    }
    [[nodiscard]] int coordinate(int node, int factor) const {
        return node / unit_[static_cast<std::size_t>(factor)] % length(factor);
    }
    void plant(const std::vector<Part>& parts, sim::Bytes v, double shards);
    void cut_into_messages(double shards, sim::Bytes message_cap);
    [[nodiscard]] int inwards(const ReductionTree& tree, int at, int factor) const;
    [[nodiscard]] bool is_parent(const ReductionTree& tree, int node, const TreeStep& step) const;
    [[nodiscard]] std::vector<std::vector<int>> spines_of(const std::vector<int>& order) const;
    [[nodiscard]] int depth(const ReductionTree& tree, int node) const;

    const Group& group_;
    const Roles& roles_;
    std::vector<int> unit_;  ///< step of a coordinate in a node's number
    int nodes_ = 1;
    std::vector<ReductionTree> trees_;
    std::uint32_t most_messages_ = 1;
    int hops_ = 0;
};

/// Returns the messages on one line: ceil(V / cap), but enough that filling the line costs little:
/// 64 for each link, as long as they are not below 4 KiB.
std::uint32_t messages_on_line(const topology::AxisFactor& line, sim::Bytes v,
                               sim::Bytes message_cap);

}  // namespace podsim::collectives
