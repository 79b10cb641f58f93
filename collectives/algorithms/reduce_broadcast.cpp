#include "collectives/algorithms/reduce_broadcast.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "collectives/paths/roles.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

constexpr double kMessagesPerLink = 64;
constexpr double kMessagesPerHop = 128;  ///< of all trees together
constexpr double kLeastMessages = 24;    ///< of one of many trees
constexpr double kLeastMessage = 4096;
constexpr double kMostTransfers = 20e6;

sim::InputError too_many_messages() {
    return sim::InputError("the array would be cut into more than 20 million messages",
                           "use a smaller array or a larger message cap");
}

/// Messages of one tree of that many bytes; `filling` make its pipeline long.
std::uint32_t messages_of(sim::Bytes bytes, double filling, sim::Bytes message_cap) {
    const double least = std::min(filling, std::floor(bytes.value() / kLeastMessage));
    return std::max({message_count(bytes, message_cap), static_cast<std::uint32_t>(least), 1U});
}

struct Tree {
    std::vector<int> order;  ///< factors, that of the outermost leaves first
    std::vector<int> spine;  ///< [factor]: the root's position on a line; 0 on a ring
    int opposite = 1;        ///< direction in which the opposite member of an even ring is joined
    sim::Bytes bytes;        ///< of one root's share
    std::uint32_t messages = 1;
};

/// A step of a tree along a factor.
struct Step {
    int factor = 0;
    int direction = 1;
};

class Builder {
public:
    Builder(const topology::Lattice& slice, const Group& group, sim::Bytes v,
            const ScheduleOptions& options, ShiftTable& shifts)
        : group_(group), roles_(slice, group), shifts_(shifts) {
        result_.parts = divide(slice, group, Algorithm::reduce_broadcast);
        for (std::size_t f = 0; f < group.size(); ++f) {
            unit_.push_back(nodes_);
            nodes_ *= length(static_cast<int>(f));
        }
        plan(v, options);
    }

    CollectiveSchedule build() {
        for (std::uint32_t role = 0; role < roles_.count(); ++role) {
            emit_role(role);
        }
        for (std::uint32_t role = 0; role < roles_.count(); ++role) {
            connect_role(role);
        }
        for (int place = 0; place < shifts_.places().size(); ++place) {
            result_.schedule.role_of_place.push_back(roles_.of(shifts_.places().point(place)));
        }
        return std::move(result_);
    }

private:
    /// The transfers of a node of a tree: for each message one to the parent, then one to each child.
    struct Node {
        std::uint32_t first_transfer = 0;
        std::vector<Step> steps;
        bool root = false;
        [[nodiscard]] std::uint32_t transfer(std::uint32_t message, std::size_t step) const {
            return first_transfer + message * static_cast<std::uint32_t>(steps.size()) +
                   static_cast<std::uint32_t>(step);
        }
    };

    [[nodiscard]] int length(int factor) const {
        return group_[static_cast<std::size_t>(factor)].length;
    }
    /// Along a line the position, along a ring the distance ahead of the root.
    [[nodiscard]] int coordinate(int node, int factor) const {
        return node / unit_[static_cast<std::size_t>(factor)] % length(factor);
    }
    [[nodiscard]] int moved(int node, const Step& step) const {
        const int n = length(step.factor);
        const int at = coordinate(node, step.factor);
        return node +
               ((at + step.direction + n) % n - at) * unit_[static_cast<std::size_t>(step.factor)];
    }

    /// The direction from a node towards the root along one factor; 0: it is there.
    [[nodiscard]] int inwards(const Tree& tree, int at, int factor) const {
        if (!roles_.ring(factor)) {
            const int to = tree.spine[static_cast<std::size_t>(factor)];
            return at < to ? 1 : at > to ? -1 : 0;
        }
        const int n = length(factor);
        return at == 0 ? 0 : 2 * at < n ? -1 : 2 * at > n ? 1 : tree.opposite;
    }

    [[nodiscard]] std::optional<Step> parent(const Tree& tree, int node) const {
        for (const int factor : tree.order) {
            const int direction = inwards(tree, coordinate(node, factor), factor);
            if (direction != 0) {
                return Step{factor, direction};
            }
        }
        return std::nullopt;
    }

    /// The step to the parent first, unless the node is the root, then those to the children.
    [[nodiscard]] std::vector<Step> steps(const Tree& tree, int node) const {
        std::vector<Step> list;
        const std::optional<Step> up = parent(tree, node);
        if (up) {
            list.push_back(*up);
        }
        for (const int factor : tree.order) {
            for (const int direction : {1, -1}) {
                const int next = coordinate(node, factor) + direction;
                const bool exists = roles_.ring(factor) || (next >= 0 && next < length(factor));
                const Step out{factor, direction};
                if (exists && is_parent(tree, moved(node, out), {factor, -direction})) {
                    list.push_back(out);
                }
            }
        }
        return list;
    }

    [[nodiscard]] bool is_parent(const Tree& tree, int node, const Step& step) const {
        const std::optional<Step> up = parent(tree, node);
        return up && up->factor == step.factor && up->direction == step.direction;
    }

    void plan(sim::Bytes v, const ScheduleOptions& options) {
        double shards = 1;
        std::vector<int> opposites{1};
        for (int f = 0; f < static_cast<int>(group_.size()); ++f) {
            if (roles_.ring(f)) {
                shards *= length(f);
                opposites = length(f) % 2 == 0 ? std::vector<int>{1, -1} : opposites;
            }
        }
        for (const Part& part : result_.parts) {
            const std::vector<int> order(part.order.rbegin(), part.order.rend());
            const std::vector<std::vector<int>> spines = spines_of(order);
            const double trees = static_cast<double>(spines.size() * opposites.size());
            for (const std::vector<int>& spine : spines) {
                for (const int opposite : opposites) {
                    trees_.push_back({order, spine, opposite, v * (part.weight / trees / shards)});
                }
            }
        }
        if (!(2.0 * static_cast<double>(trees_.size()) * nodes_ < kMostTransfers)) {
            throw too_many_messages();
        }
        for (const Tree& tree : trees_) {
            for (int node = 0; node < nodes_; ++node) {
                result_.hops = std::max(result_.hops, 2 * depth(tree, node));
            }
        }
        const double filling =
            group_.size() == 1 && !roles_.ring(0)
                ? kMessagesPerLink * (length(0) - 1)
                : std::max(kLeastMessages,
                           std::ceil(kMessagesPerHop * result_.hops /
                                     (static_cast<double>(trees_.size()) * shards)));
        double transfers = 0;
        for (Tree& tree : trees_) {
            tree.messages = messages_of(tree.bytes, filling, options.message_cap);
            most_messages_ = std::max(most_messages_, tree.messages);
            transfers += 2.0 * tree.messages * nodes_;
        }
        if (!(transfers < kMostTransfers)) {
            throw too_many_messages();
        }
    }

    /// Every choice of positions on the lines; on the factor taken last the middle.
    [[nodiscard]] std::vector<std::vector<int>> spines_of(const std::vector<int>& order) const {
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

    /// Links from a node to the root.
    [[nodiscard]] int depth(const Tree& tree, int node) const {
        int links = 0;
        for (std::optional<Step> up = parent(tree, node); up; up = parent(tree, node)) {
            links += group_[static_cast<std::size_t>(up->factor)].stride;
            node = moved(node, *up);
        }
        return links;
    }

    /// Whether a member of this role can be that node: lines by position, rings anywhere.
    [[nodiscard]] bool plays(std::uint32_t role, int node) const {
        for (int f = 0; f < static_cast<int>(group_.size()); ++f) {
            if (!roles_.ring(f) && roles_.position(role, f) != coordinate(node, f)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] int ring_block(int node) const {
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

    void emit_role(std::uint32_t role) {
        sim::Schedule& schedule = result_.schedule;
        sim::Role entry;
        entry.first_transfer = static_cast<std::uint32_t>(schedule.transfers.size());
        nodes_of_role_.emplace_back(trees_.size() * static_cast<std::size_t>(nodes_));
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            for (int node = 0; node < nodes_; ++node) {
                if (!plays(role, node)) {
                    continue;
                }
                Node& played = at(role, t, node);
                played.first_transfer = static_cast<std::uint32_t>(schedule.transfers.size());
                played.steps = steps(trees_[t], node);
                played.root = !parent(trees_[t], node);
                for (std::uint32_t message = 0; message < trees_[t].messages; ++message) {
                    for (std::size_t i = 0; i < played.steps.size(); ++i) {
                        const bool up = i == 0 && !played.root;
                        add(t, node, played.steps[i], up ? Motion::reduce : Motion::gather,
                            message);
                    }
                }
            }
        }
        entry.transfer_count =
            static_cast<std::uint32_t>(schedule.transfers.size()) - entry.first_transfer;
        schedule.roles.push_back(entry);
    }

    void add(std::size_t t, int node, const Step& step, Motion motion, std::uint32_t message) {
        sim::Schedule& schedule = result_.schedule;
        const Tree& tree = trees_[t];
        const topology::AxisFactor& f = group_[static_cast<std::size_t>(step.factor)];
        sim::Transfer transfer;
        transfer.first_hop = static_cast<std::uint32_t>(schedule.hops.size());
        for (int link = 0; link < f.stride; ++link) {
            schedule.hops.push_back({shifts_.number(topology::along(f.axis, step.direction * link)),
                                     port_of(f.axis, step.direction)});
        }
        transfer.hop_count = static_cast<std::uint32_t>(f.stride);
        transfer.destination_shift =
            shifts_.number(topology::along(f.axis, step.direction * f.stride));
        // Messages of one number go down all trees before those of the next, sums before results.
        transfer.phase = 2 * message + (motion == Motion::reduce ? 0 : 1);
        std::uint64_t rank = motion == Motion::reduce ? 0 : 1;
        rank = rank * most_messages_ + message;
        rank = rank * trees_.size() + t;
        rank = rank * static_cast<std::uint64_t>(nodes_) + static_cast<std::uint64_t>(node);
        rank = rank * group_.size() + static_cast<std::uint64_t>(step.factor);
        transfer.rank = rank * 2 + (step.direction < 0 ? 1 : 0);
        transfer.bytes = tree.bytes / static_cast<double>(tree.messages);
        schedule.transfers.push_back(transfer);
        result_.payloads.push_back(
            {.part = static_cast<std::uint16_t>(t),
             .phase = static_cast<std::uint16_t>(motion == Motion::reduce ? 0 : 1),
             .factor = static_cast<std::uint16_t>(step.factor),
             .motion = motion,
             .direction = static_cast<std::int8_t>(step.direction),
             .block = ring_block(node),
             .low = message,
             .high = message + 1,
             .unit = tree.messages});
    }

    /// Sets the successors of a role's transfers at the neighbours where they arrive.
    void connect_role(std::uint32_t role) {
        sim::Schedule& schedule = result_.schedule;
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            for (int node = 0; node < nodes_; ++node) {
                if (!plays(role, node)) {
                    continue;
                }
                const Node& from = at(role, t, node);
                for (std::uint32_t message = 0; message < trees_[t].messages; ++message) {
                    for (std::size_t i = 0; i < from.steps.size(); ++i) {
                        const Step& step = from.steps[i];
                        const std::uint32_t next =
                            *roles_.neighbour(role, step.factor, step.direction);
                        sim::Transfer& transfer = schedule.transfers[from.transfer(message, i)];
                        ++schedule.roles[next].arrivals;
                        transfer.first_successor =
                            static_cast<std::uint32_t>(schedule.successors.size());
                        const Node& to = at(next, t, moved(node, step));
                        const bool up = i == 0 && !from.root;
                        for (std::size_t j = 0; j < to.steps.size(); ++j) {
                            // Sums go on to the parent, or turn round at the root; results to the children.
                            const bool on_up = j == 0 && !to.root;
                            if (to.root || on_up == up) {
                                schedule.successors.push_back(to.transfer(message, j));
                                ++schedule.transfers[schedule.successors.back()].needs;
                            }
                        }
                        transfer.successor_count =
                            static_cast<std::uint32_t>(schedule.successors.size()) -
                            transfer.first_successor;
                    }
                }
            }
        }
    }

    Node& at(std::uint32_t role, std::size_t tree, int node) {
        return nodes_of_role_[role][tree * static_cast<std::size_t>(nodes_) +
                                    static_cast<std::size_t>(node)];
    }

    const Group& group_;
    const Roles roles_;
    ShiftTable& shifts_;
    std::vector<int> unit_;  ///< of a coordinate in the number of a node
    int nodes_ = 1;
    std::vector<Tree> trees_;
    std::uint32_t most_messages_ = 1;
    std::vector<std::vector<Node>> nodes_of_role_;  ///< [role][tree, node]
    CollectiveSchedule result_;
};

}  // namespace

std::uint32_t reduce_broadcast_messages(const topology::AxisFactor& line, sim::Bytes v,
                                        sim::Bytes message_cap) {
    return messages_of(v, kMessagesPerLink * (line.length - 1), message_cap);
}

CollectiveSchedule build_reduce_broadcast(const topology::Lattice& slice, const Group& group,
                                          sim::Bytes v, const ScheduleOptions& options,
                                          ShiftTable& shifts) {
    return Builder(slice, group, v, options, shifts).build();
}

}  // namespace podsim::collectives
