#include "collectives/algorithms/reduce_broadcast.h"

#include <algorithm>
#include <vector>

#include "collectives/algorithms/reduction_trees.h"
#include "collectives/paths/roles.h"
#include "collectives/vocabulary/memory_passes.h"

namespace podsim::collectives {
namespace {

class TreeBuilder {
public:
    TreeBuilder(const CollectiveCall& call, const ScheduleOptions& options, ShiftTable& shifts)
        : group_(call.group()),
          roles_(call.slice, call.group()),
          parts_(divide(call.slice, call.group(), Algorithm::reduce_broadcast)),
          trees_(group_, roles_, parts_, call.bytes, options.message_cap),
          shifts_(shifts) {
        result_.parts = parts_;
        result_.hops = trees_.hops();
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
    /// The transfers of a node of a tree: for each message one to the parent, then one to each
    /// child.
    struct Node {
        std::uint32_t first_transfer = 0;
        std::vector<TreeStep> steps;
        bool root = false;
        [[nodiscard]] std::uint32_t transfer(std::uint32_t message, std::size_t step) const {
            return first_transfer + message * static_cast<std::uint32_t>(steps.size()) +
                   static_cast<std::uint32_t>(step);
        }
    };

    [[nodiscard]] const ReductionTree& tree(std::size_t t) const { return trees_.all()[t]; }

    void emit_role(std::uint32_t role) {
        sim::Schedule& schedule = result_.schedule;
        sim::Role entry;
        entry.first_transfer = static_cast<std::uint32_t>(schedule.transfers.size());
        nodes_of_role_.emplace_back(trees_.all().size() * static_cast<std::size_t>(trees_.nodes()));
        for (std::size_t t = 0; t < trees_.all().size(); ++t) {
            for (int node = 0; node < trees_.nodes(); ++node) {
                if (!trees_.plays(role, node)) {
                    continue;
                }
                Node& played = at(role, t, node);
                played.first_transfer = static_cast<std::uint32_t>(schedule.transfers.size());
                played.steps = trees_.steps(tree(t), node);
                played.root = !trees_.parent(tree(t), node);
                for (std::uint32_t message = 0; message < tree(t).messages; ++message) {
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

    void add(std::size_t t, int node, const TreeStep& step, Motion motion, std::uint32_t message) {
        sim::Schedule& schedule = result_.schedule;
        const ReductionTree& sender = tree(t);
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
        rank = rank * trees_.most_messages() + message;
        rank = rank * trees_.all().size() + t;
        rank = rank * static_cast<std::uint64_t>(trees_.nodes()) + static_cast<std::uint64_t>(node);
        rank = rank * group_.size() + static_cast<std::uint64_t>(step.factor);
        transfer.rank = rank * 2 + (step.direction < 0 ? 1 : 0);
        transfer.bytes = sender.bytes / static_cast<double>(sender.messages);
        transfer.writes = motion == Motion::reduce ? kPassesOfSum : kWritesOfCopy;
        schedule.transfers.push_back(transfer);
        result_.payloads.push_back(
            {.part = static_cast<std::uint16_t>(t),
             .phase = static_cast<std::uint16_t>(motion == Motion::reduce ? 0 : 1),
             .factor = static_cast<std::uint16_t>(step.factor),
             .motion = motion,
             .direction = static_cast<std::int8_t>(step.direction),
             .block = trees_.ring_block(node),
             .low = message,
             .high = message + 1,
             .unit = sender.messages});
    }

    /// Sets the successors of a role's transfers at the neighbours that receive them.
    void connect_role(std::uint32_t role) {
        sim::Schedule& schedule = result_.schedule;
        for (std::size_t t = 0; t < trees_.all().size(); ++t) {
            for (int node = 0; node < trees_.nodes(); ++node) {
                if (!trees_.plays(role, node)) {
                    continue;
                }
                const Node& from = at(role, t, node);
                for (std::uint32_t message = 0; message < tree(t).messages; ++message) {
                    for (std::size_t i = 0; i < from.steps.size(); ++i) {
                        const TreeStep& step = from.steps[i];
                        const std::uint32_t next =
                            *roles_.neighbour(role, step.factor, step.direction);
                        sim::Transfer& transfer = schedule.transfers[from.transfer(message, i)];
                        ++schedule.roles[next].arrivals;
                        transfer.first_successor =
                            static_cast<std::uint32_t>(schedule.successors.size());
                        const Node& to = at(next, t, trees_.moved(node, step));
                        const bool up = i == 0 && !from.root;
                        for (std::size_t j = 0; j < to.steps.size(); ++j) {
                            // Sums go on to the parent, or reverse at the root; results go on to
                            // the children.
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
        return nodes_of_role_[role][tree * static_cast<std::size_t>(trees_.nodes()) +
                                    static_cast<std::size_t>(node)];
    }

    const Group& group_;
    const Roles roles_;
    const std::vector<Part> parts_;
    const ReductionTrees trees_;
    ShiftTable& shifts_;
    std::vector<std::vector<Node>> nodes_of_role_;  ///< [role][tree, node]
    CollectiveSchedule result_;
};

}  // namespace

CollectiveSchedule build_reduce_broadcast(const CollectiveCall& call,
                                          const ScheduleOptions& options, ShiftTable& shifts) {
    return TreeBuilder(call, options, shifts).build();
}

sim::Time reduce_broadcast_on_line(const CollectiveCall& call, const ScheduleOptions& options,
                                   const LinkModel& link) {
    const topology::AxisFactor& line = call.group().front();
    const std::int64_t m = messages_on_line(line, call.bytes, options.message_cap);
    const sim::Time tau = sim::round_up(call.bytes / static_cast<double>(m) / link.rate);
    const sim::Time a = sim::round_up(link.latency);
    const sim::Time hop = link.rule == sim::LatencyRule::additive ? tau + a : std::max(tau, a);
    return tau * (m - 1) + hop * (2 * std::int64_t{line.length / 2});
}

}  // namespace podsim::collectives
