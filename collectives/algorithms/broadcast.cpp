#include "collectives/algorithms/broadcast.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/shipments.h"
#include "collectives/paths/group_graph.h"
#include "topology/graph/flow.h"

namespace podsim::collectives {
namespace {

/// Messages for each level of a tree's depth: filling the pipeline then costs little.
constexpr double kMessagesPerLevel = 64;
constexpr double kLeastBroadcastMessage = 4096;
/// Limit of the transfers to which filling the pipeline may lead; the cap may ask for more.
constexpr double kMostToFill = 4e6;

struct Trees {
    std::vector<topology::SpanningTree> trees;
    std::vector<int> depths;
    std::uint32_t messages = 1;  ///< on each tree

    [[nodiscard]] int depth() const { return *std::ranges::max_element(depths); }
    [[nodiscard]] sim::Bytes message(sim::Bytes v) const {
        return v / static_cast<double>(trees.size()) / static_cast<double>(messages);
    }
};

std::vector<int> levels(const GroupGraph& graph, const topology::SpanningTree& tree) {
    std::vector<int> level(tree.size(), -1);
    for (std::size_t member = 0; member < tree.size(); ++member) {
        std::vector<std::size_t> path;
        std::size_t at = member;
        while (level[at] < 0 && tree[at] >= 0) {
            path.push_back(at);
            at = static_cast<std::size_t>(graph.links()[static_cast<std::size_t>(tree[at])].from);
        }
        level[at] = std::max(level[at], 0);
        for (std::size_t i = path.size(); i-- > 0;) {
            level[path[i]] = level[at] + static_cast<int>(path.size() - i);
        }
    }
    return level;
}

Trees with_messages(const GroupGraph& graph, std::vector<topology::SpanningTree> trees,
                    sim::Bytes v, const ScheduleOptions& options) {
    Trees result{std::move(trees), {}, 1};
    for (const topology::SpanningTree& tree : result.trees) {
        result.depths.push_back(std::ranges::max(levels(graph, tree)));
    }
    const double count = static_cast<double>(result.trees.size());
    const double filling = std::min({kMessagesPerLevel * (result.depth() - 1),
                                     std::floor(v.value() / count / kLeastBroadcastMessage),
                                     std::floor(kMostToFill / count / graph.members())});
    result.messages = std::max(
        {messages_of(v / count, options.message_cap), static_cast<std::uint32_t>(filling), 1U});
    if (result.messages * count * graph.members() > kMostMessages) {
        throw TooManyMessages();
    }
    return result;
}

/// Returns the time of the deepest tree, in bytes at the rate of one link.
sim::Bytes time_of(const Trees& trees, sim::Bytes v, sim::Bytes hop) {
    return trees.message(v) * (static_cast<double>(trees.messages) - 1 + trees.depth()) +
           hop * trees.depth();
}

Trees best_trees(const GroupGraph& graph, int root, sim::Bytes v, const ScheduleOptions& options) {
    const std::vector<topology::Arc> arcs = graph.arcs();
    const auto shallow = [&] {
        return with_messages(graph, topology::disjoint_trees(graph.members(), arcs, root, 1), v,
                             options);
    };
    const auto most = static_cast<int>(std::ranges::count(graph.links(), root, &GroupLink::from));
    Trees all = with_messages(graph, topology::disjoint_trees(graph.members(), arcs, root, most), v,
                              options);
    Trees one = all.trees.size() > 1 ? shallow() : all;
    return time_of(one, v, options.hop_bytes) < time_of(all, v, options.hop_bytes) ? one : all;
}

class BroadcastBuilder {
public:
    BroadcastBuilder(const topology::Lattice& slice, const GroupGraph& graph, int root, Trees trees,
                     sim::Bytes v, ShiftTable& shifts)
        : slice_(slice),
          graph_(graph),
          root_(root),
          trees_(std::move(trees)),
          message_(trees_.message(v)),
          shifts_(shifts),
          first_(trees_.trees.size(),
                 std::vector<std::uint32_t>(static_cast<std::size_t>(graph.members()))) {}

    CollectiveSchedule build() {
        const auto n = static_cast<std::size_t>(graph_.members());
        std::vector<std::vector<std::vector<int>>> children(trees_.trees.size(),
                                                            std::vector<std::vector<int>>(n));
        for (std::size_t tree = 0; tree < trees_.trees.size(); ++tree) {
            for (std::size_t member = 0; member < n; ++member) {
                if (const int link = trees_.trees[tree][member]; link >= 0) {
                    children[tree][static_cast<std::size_t>(parent(link))].push_back(link);
                }
            }
        }
        sim::Schedule& schedule = result_.schedule;
        for (std::size_t member = 0; member < n; ++member) {
            sim::Role role;
            role.first_transfer = static_cast<std::uint32_t>(schedule.transfers.size());
            for (std::size_t tree = 0; tree < trees_.trees.size(); ++tree) {
                for (const int link : children[tree][member]) {
                    emit(tree, link);
                }
            }
            role.transfer_count =
                static_cast<std::uint32_t>(schedule.transfers.size()) - role.first_transfer;
            role.arrivals = static_cast<int>(member) == root_
                                ? 0
                                : trees_.messages * static_cast<std::uint32_t>(trees_.trees.size());
            schedule.roles.push_back(role);
        }
        for (std::size_t tree = 0; tree < trees_.trees.size(); ++tree) {
            for (std::size_t member = 0; member < n; ++member) {
                if (trees_.trees[tree][member] >= 0) {
                    connect(tree, member, children[tree][member]);
                }
            }
        }
        for (int place = 0; place < shifts_.places().size(); ++place) {
            schedule.role_of_place.push_back(
                static_cast<std::uint32_t>(graph_.member_of(shifts_.places().point(place))));
        }
        describe();
        return std::move(result_);
    }

private:
    [[nodiscard]] const GroupLink& link_of(int link) const {
        return graph_.links()[static_cast<std::size_t>(link)];
    }
    [[nodiscard]] int parent(int link) const { return link_of(link).from; }

    /// Emits the messages of a tree over one of its links.
    void emit(std::size_t tree, int link) {
        const GroupLink& over = link_of(link);
        sim::Schedule& schedule = result_.schedule;
        first_[tree][static_cast<std::size_t>(over.to)] =
            static_cast<std::uint32_t>(schedule.transfers.size());
        sim::Transfer transfer;
        transfer.first_hop = static_cast<std::uint32_t>(schedule.hops.size());
        for (int step = 0; step < over.leg.links; ++step) {
            const topology::Point at = topology::along(over.leg.axis, over.leg.direction * step);
            schedule.hops.push_back(
                {shifts_.number(reduced(slice_, at)), port_of(over.leg.axis, over.leg.direction)});
        }
        transfer.hop_count = static_cast<std::uint32_t>(over.leg.links);
        transfer.destination_shift = shifts_.number(
            reduced(slice_, topology::along(over.leg.axis, over.leg.direction * over.leg.links)));
        transfer.needs = over.from == root_ ? 1 : 2;
        transfer.bytes = message_;
        const std::uint64_t into =
            tree * static_cast<std::size_t>(graph_.members()) + static_cast<std::size_t>(over.to);
        for (std::uint32_t message = 0; message < trees_.messages; ++message) {
            transfer.rank = into * trees_.messages + message;
            schedule.transfers.push_back(transfer);
            const auto piece = static_cast<std::uint32_t>(tree) * trees_.messages + message;
            result_.payloads.push_back(
                {.low = piece,
                 .high = piece + 1,
                 .unit = trees_.messages * static_cast<std::uint32_t>(trees_.trees.size())});
        }
    }

    /// Forwards every message that reaches a member to its children.
    void connect(std::size_t tree, std::size_t member, const std::vector<int>& children) {
        sim::Schedule& schedule = result_.schedule;
        for (std::uint32_t message = 0; message < trees_.messages; ++message) {
            sim::Transfer& transfer = schedule.transfers[first_[tree][member] + message];
            transfer.first_successor = static_cast<std::uint32_t>(schedule.successors.size());
            transfer.successor_count = static_cast<std::uint32_t>(children.size());
            for (const int link : children) {
                schedule.successors.push_back(
                    first_[tree][static_cast<std::size_t>(link_of(link).to)] + message);
            }
        }
    }

    void describe() {
        for (const topology::SpanningTree& tree : trees_.trees) {
            for (std::size_t member = 0; member < tree.size(); ++member) {
                int links = 0;
                for (int link = tree[member]; link >= 0;
                     link = tree[static_cast<std::size_t>(parent(link))]) {
                    links += link_of(link).leg.links;
                }
                result_.hops = std::max(result_.hops, links);
            }
        }
        const auto [least, most] = std::ranges::minmax(trees_.depths);
        result_.served =
            trees_.trees.size() == 1
                ? fmt::format("one tree, {} deep, {} messages", most, trees_.messages)
                : fmt::format("{} disjoint trees, {} deep, {} messages each", trees_.trees.size(),
                              least == most ? fmt::format("{}", most)
                                            : fmt::format("{} to {}", least, most),
                              trees_.messages);
    }

    const topology::Lattice& slice_;
    const GroupGraph& graph_;
    const int root_;
    const Trees trees_;
    const sim::Bytes message_;
    ShiftTable& shifts_;
    std::vector<std::vector<std::uint32_t>> first_;  ///< [tree][member]: transfer into the member
    CollectiveSchedule result_;
};

}  // namespace

CollectiveSchedule build_broadcast(const CollectiveCall& call, const ScheduleOptions& options,
                                   ShiftTable& shifts) {
    const GroupGraph graph(call.slice, call.group());
    const int at = graph.member_of(call.ends.root);
    return BroadcastBuilder(call.slice, graph, at, best_trees(graph, at, call.bytes, options),
                            call.bytes, shifts)
        .build();
}

EndTraffic broadcast_traffic(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, call.group());
    const int root = graph.member_of(call.ends.root);
    return {.bytes = call.bytes,
            .links = graph.links_into(root),
            .longest_way = std::ranges::max(graph.links_to(root))};
}

sim::Bytes broadcast_bound(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, call.group());
    const int at = graph.member_of(call.ends.root);
    std::vector<double> into(static_cast<std::size_t>(graph.members()));
    double out_of_root = 0;
    for (const GroupLink& link : graph.links()) {
        into[static_cast<std::size_t>(link.to)] += 1.0 / link.sharers;
        out_of_root += link.from == at ? 1.0 / link.sharers : 0;
    }
    into[static_cast<std::size_t>(at)] = out_of_root;
    double least = std::ranges::min(into);
    for (int factor = 0; factor < graph.factors(); ++factor) {
        double across = 0;
        for (const GroupLink& link : graph.links()) {
            const bool up = link.factor == factor && graph.steps(at, link.from, factor) == 0 &&
                            graph.steps(at, link.to, factor) != 0;
            across += up ? 1.0 / link.sharers : 0;
        }
        least = std::min(least, across);
    }
    return call.bytes / least;
}

std::optional<sim::Time> broadcast_closed_form(const CollectiveCall& call,
                                               const ScheduleOptions& options,
                                               const LinkModel& link) {
    if (std::ranges::any_of(call.group(), [](const auto& factor) { return factor.stride != 1; })) {
        return std::nullopt;
    }
    const GroupGraph graph(call.slice, call.group());
    const Trees trees = best_trees(graph, graph.member_of(call.ends.root), call.bytes, options);
    const sim::Time tau = sim::round_up(trees.message(call.bytes) / link.rate);
    const sim::Time a = sim::round_up(link.latency);
    const sim::Time hop = link.rule == sim::LatencyRule::additive ? tau + a : std::max(tau, a);
    return tau * (trees.messages - 1) + hop * trees.depth();
}

}  // namespace podsim::collectives
