#include "collectives/algorithms/reduction_trees.h"

#include <algorithm>
#include <cmath>

#include "collectives/algorithms/messages.h"

namespace podsim::collectives {
namespace {

constexpr double kMessagesPerLink = 64;
constexpr double kMessagesPerHop = 128;  ///< of all trees together
constexpr double kLeastMessages = 24;    ///< of one of many trees
constexpr double kLeastMessage = 4096;

/// Returns the messages of one tree of the given bytes; `filling` messages make its pipeline long.
std::uint32_t filling_messages(sim::Bytes bytes, double filling, sim::Bytes message_cap) {
    const double least = std::min(filling, std::floor(bytes.value() / kLeastMessage));
    return std::max({message_count(bytes, message_cap), static_cast<std::uint32_t>(least), 1U});
}

}  // namespace

ReductionTrees::ReductionTrees(const Group& group, const Roles& roles,
                               const std::vector<Part>& parts, sim::Bytes v, sim::Bytes message_cap)
    : group_(group), roles_(roles) {
    double shards = 1;
    for (int f = 0; f < static_cast<int>(group.size()); ++f) {
        unit_.push_back(nodes_);
        nodes_ *= length(f);
        shards *= roles.ring(f) ? length(f) : 1;
    }
    plant(parts, v, shards);
    cut_into_messages(shards, message_cap);
}

void ReductionTrees::plant(const std::vector<Part>& parts, sim::Bytes v, double shards) {
    bool even_ring = false;
    for (int f = 0; f < static_cast<int>(group_.size()); ++f) {
        even_ring = even_ring || (roles_.ring(f) && length(f) % 2 == 0);
    }
    const std::vector<int> opposites = even_ring ? std::vector<int>{1, -1} : std::vector<int>{1};
    for (const Part& part : parts) {
        const std::vector<int> order(part.order.rbegin(), part.order.rend());
        const std::vector<std::vector<int>> spines = spines_of(order);
        const double trees = static_cast<double>(spines.size() * opposites.size());
        for (const std::vector<int>& spine : spines) {
            for (const int opposite : opposites) {
                trees_.push_back({order, spine, opposite, v * (part.weight / trees / shards)});
            }
        }
    }
    if (!(2.0 * static_cast<double>(trees_.size()) * nodes_ < kMostMessages)) {
        throw TooManyMessages();
    }
    for (const ReductionTree& tree : trees_) {
        for (int node = 0; node < nodes_; ++node) {
            hops_ = std::max(hops_, 2 * depth(tree, node));
        }
    }
}

void ReductionTrees::cut_into_messages(double shards, sim::Bytes message_cap) {
    const double filling =
        group_.size() == 1 && !roles_.ring(0)
            ? kMessagesPerLink * (length(0) - 1)
            : std::max(kLeastMessages, std::ceil(kMessagesPerHop * hops_ /
                                                 (static_cast<double>(trees_.size()) * shards)));
    double transfers = 0;
    for (ReductionTree& tree : trees_) {
        tree.messages = filling_messages(tree.bytes, filling, message_cap);
        most_messages_ = std::max(most_messages_, tree.messages);
        transfers += 2.0 * tree.messages * nodes_;
    }
    if (!(transfers < kMostMessages)) {
        throw TooManyMessages();
    }
}

/// Returns the direction from a node towards the root along one factor; 0 if it is there.
int ReductionTrees::inwards(const ReductionTree& tree, int at, int factor) const {
    if (!roles_.ring(factor)) {
        const int to = tree.spine[static_cast<std::size_t>(factor)];
        return at < to ? 1 : at > to ? -1 : 0;
    }
    const int n = length(factor);
    return at == 0 ? 0 : 2 * at < n ? -1 : 2 * at > n ? 1 : tree.opposite;
}

std::optional<TreeStep> ReductionTrees::parent(const ReductionTree& tree, int node) const {
    for (const int factor : tree.order) {
        const int direction = inwards(tree, coordinate(node, factor), factor);
        if (direction != 0) {
            return TreeStep{factor, direction};
        }
    }
    return std::nullopt;
}

std::vector<TreeStep> ReductionTrees::steps(const ReductionTree& tree, int node) const {
    std::vector<TreeStep> list;
    const std::optional<TreeStep> up = parent(tree, node);
    if (up) {
        list.push_back(*up);
    }
    for (const int factor : tree.order) {
        for (const int direction : {1, -1}) {
            const int next = coordinate(node, factor) + direction;
            const bool exists = roles_.ring(factor) || (next >= 0 && next < length(factor));
            const TreeStep out{factor, direction};
            if (exists && is_parent(tree, moved(node, out), {factor, -direction})) {
                list.push_back(out);
            }
        }
    }
    return list;
}

bool ReductionTrees::is_parent(const ReductionTree& tree, int node, const TreeStep& step) const {
    const std::optional<TreeStep> up = parent(tree, node);
    return up && up->factor == step.factor && up->direction == step.direction;
}

/// Returns every choice of positions on the lines; on the last factor the middle.
std::vector<std::vector<int>> ReductionTrees::spines_of(const std::vector<int>& order) const {
    std::vector<std::vector<int>> spines{std::vector<int>(group_.size())};
    for (const int factor : order) {
        if (roles_.ring(factor)) {
            continue;
        }
        const bool last = factor == order.back();
        const int begin = last ? length(factor) / 2 : 0;
        const int end = last ? begin + 1 : length(factor);
        std::vector<std::vector<int>> more;
        for (std::vector<int>& spine : spines) {
            for (int at = begin; at < end; ++at) {
                spine[static_cast<std::size_t>(factor)] = at;
                more.push_back(spine);
            }
        }
        spines = std::move(more);
    }
    return spines;
}

/// Returns the links from a node to the root.
int ReductionTrees::depth(const ReductionTree& tree, int node) const {
    int links = 0;
    for (std::optional<TreeStep> up = parent(tree, node); up; up = parent(tree, node)) {
        links += group_[static_cast<std::size_t>(up->factor)].stride;
        node = moved(node, *up);
    }
    return links;
}

bool ReductionTrees::plays(std::uint32_t role, int node) const {
    for (int f = 0; f < static_cast<int>(group_.size()); ++f) {
        if (!roles_.ring(f) && roles_.position(role, f) != coordinate(node, f)) {
            return false;
        }
    }
    return true;
}

int ReductionTrees::ring_block(int node) const {
    int block = 0;
    int span = 1;
    for (int f = 0; f < static_cast<int>(group_.size()); ++f) {
        if (roles_.ring(f)) {
            block += span * coordinate(node, f);
            span *= length(f);
        }
    }
    return block;
}

std::uint32_t messages_on_line(const topology::AxisFactor& line, sim::Bytes v,
                               sim::Bytes message_cap) {
    return filling_messages(v, kMessagesPerLink * (line.length - 1), message_cap);
}

}  // namespace podsim::collectives
