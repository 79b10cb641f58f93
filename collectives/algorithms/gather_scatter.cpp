#include "collectives/algorithms/gather_scatter.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "collectives/algorithms/shipments.h"
#include "collectives/paths/group_graph.h"
#include "topology/graph/flow.h"

namespace podsim::collectives {
namespace {

using topology::Arc;

/// A flow of every member's shard to the root in the least time.
struct Collection {
    // The time is `shares` / `rate` times what one link needs for one shard.
    std::int64_t shares = 0;
    std::int64_t rate = 1;
    std::vector<int> links;             ///< in use, by number
    std::vector<std::int64_t> on_link;  ///< parallel to `links`
    std::int64_t share = 1;             ///< flow of one member

    [[nodiscard]] double time() const {
        return static_cast<double>(shares) / static_cast<double>(rate);
    }
};

/// Returns the best flow over the given links, by Dinkelbach's method on the ratio of the tightest
/// set.
Collection collect(const GroupGraph& graph, int root, const std::vector<int>& links) {
    const std::vector<Arc> all = graph.arcs();
    const int n = graph.members();
    const int source = n;
    Collection best;
    best.links = links;
    best.shares = n - 1;
    best.rate = 0;
    for (const int link : links) {
        const Arc& arc = all[static_cast<std::size_t>(link)];
        best.rate += arc.to == root ? arc.capacity : 0;
    }
    // The unit makes a shard best.rate: a link carries best.shares times its capacity in T.
    while (true) {
        const std::int64_t divisor = std::gcd(best.shares, best.rate);
        best.shares /= divisor;
        best.rate /= divisor;
        best.share = best.rate;
        std::vector<Arc> arcs;
        for (const int link : links) {
            arcs.push_back(all[static_cast<std::size_t>(link)]);
            arcs.back().capacity *= best.shares;
        }
        for (int member = 0; member < n; ++member) {
            if (member != root) {
                arcs.push_back({source, member, best.share});
            }
        }
        const topology::Flow flow = topology::max_flow(n + 1, arcs, source, root);
        if (flow.value == best.share * (n - 1)) {
            best.on_link.assign(flow.on_arc.begin(),
                                flow.on_arc.begin() + static_cast<std::ptrdiff_t>(links.size()));
            break;
        }
        best.shares = 0;
        best.rate = 0;
        for (int member = 0; member < n; ++member) {
            best.shares += flow.source_side[static_cast<std::size_t>(member)] ? 1 : 0;
        }
        for (const int link : links) {
            const Arc& arc = all[static_cast<std::size_t>(link)];
            const bool leaves = flow.source_side[static_cast<std::size_t>(arc.from)] &&
                                !flow.source_side[static_cast<std::size_t>(arc.to)];
            best.rate += leaves ? arc.capacity : 0;
        }
    }
    return best;
}

Collection best_collection(const GroupGraph& graph, int root) {
    const std::vector<int> distance = graph.links_to(root);
    std::vector<int> all;
    std::vector<int> shortest;
    for (std::size_t link = 0; link < graph.links().size(); ++link) {
        const GroupLink& l = graph.links()[link];
        all.push_back(static_cast<int>(link));
        if (distance[static_cast<std::size_t>(l.from)] ==
            distance[static_cast<std::size_t>(l.to)] + l.leg.links) {
            shortest.push_back(static_cast<int>(link));
        }
    }
    Collection by_shortest = collect(graph, root, shortest);
    Collection by_all = collect(graph, root, all);
    return by_all.time() < by_shortest.time() ? by_all : by_shortest;
}

/// A member's route to the root, with a fraction of the member's shard.
struct ScatterWay {
    int member = 0;
    std::vector<int> links;
    std::int64_t flow = 0;
};

/// Decomposes the flow: from every member along links with flow left, without loops.
std::vector<ScatterWay> ways_of(const GroupGraph& graph, int root, Collection flow) {
    std::vector<std::vector<std::size_t>> out(static_cast<std::size_t>(graph.members()));
    const auto link_of = [&](std::size_t i) -> const GroupLink& {
        return graph.links()[static_cast<std::size_t>(flow.links[i])];
    };
    for (std::size_t i = 0; i < flow.links.size(); ++i) {
        if (flow.on_link[i] > 0) {
            out[static_cast<std::size_t>(link_of(i).from)].push_back(i);
        }
    }
    std::vector<ScatterWay> ways;
    for (int member = 0; member < graph.members(); ++member) {
        std::int64_t left = member == root ? 0 : flow.share;
        while (left > 0) {
            std::vector<std::size_t> path;
            std::vector<int> position(out.size(), -1);
            for (int at = member; at != root;) {
                int& seen = position[static_cast<std::size_t>(at)];
                if (seen >= 0) {
                    // Flow that only circulates is of no use.
                    const auto begin = path.begin() + seen;
                    const std::int64_t round = flow.on_link[*std::ranges::min_element(
                        begin, path.end(), {}, [&](std::size_t i) { return flow.on_link[i]; })];
                    for (auto i = begin; i != path.end(); ++i) {
                        flow.on_link[*i] -= round;
                        position[static_cast<std::size_t>(link_of(*i).from)] = -1;
                    }
                    path.erase(begin, path.end());
                }
                position[static_cast<std::size_t>(at)] = static_cast<int>(path.size());
                std::vector<std::size_t>& choices = out[static_cast<std::size_t>(at)];
                while (flow.on_link[choices.back()] == 0) {
                    choices.pop_back();
                }
                path.push_back(choices.back());
                at = link_of(choices.back()).to;
            }
            std::int64_t amount = left;
            for (const std::size_t i : path) {
                amount = std::min(amount, flow.on_link[i]);
            }
            ScatterWay& way = ways.emplace_back();
            way.member = member;
            way.flow = amount;
            for (const std::size_t i : path) {
                flow.on_link[i] -= amount;
                way.links.push_back(flow.links[i]);
            }
            left -= amount;
        }
    }
    return ways;
}

/// Ships from every member to the root; if `reversed`, from the root to every member.
std::vector<Shipment> shipments_of(const GroupGraph& graph, int root, sim::Bytes v, bool reversed) {
    const Collection flow = best_collection(graph, root);
    const double share = static_cast<double>(flow.share);
    std::vector<Shipment> shipments;
    for (const ScatterWay& way : ways_of(graph, root, flow)) {
        Shipment shipment{.source = static_cast<std::uint32_t>(way.member),
                          .destination = static_cast<std::uint32_t>(root),
                          .legs = {},
                          .bytes = v * (static_cast<double>(way.flow) / share / graph.members()),
                          .block = way.member};
        for (const int link : way.links) {
            shipment.legs.push_back(graph.links()[static_cast<std::size_t>(link)].leg);
        }
        if (reversed) {
            std::swap(shipment.source, shipment.destination);
            std::ranges::reverse(shipment.legs);
            for (Leg& leg : shipment.legs) {
                leg.direction = -leg.direction;
            }
        }
        shipments.push_back(std::move(shipment));
    }
    return shipments;
}

CollectiveSchedule build_spread(const CollectiveCall& call, bool reversed,
                                const ScheduleOptions& options, ShiftTable& shifts) {
    const GroupGraph graph(call.slice, call.group());
    const int at = graph.member_of(call.ends.root);
    const std::vector<Shipment> shipments = shipments_of(graph, at, call.bytes, reversed);
    std::vector<std::uint32_t> role_of_place;
    role_of_place.reserve(static_cast<std::size_t>(shifts.places().size()));
    for (int place = 0; place < shifts.places().size(); ++place) {
        role_of_place.push_back(
            static_cast<std::uint32_t>(graph.member_of(shifts.places().point(place))));
    }
    CollectiveSchedule result =
        ship(shipments, static_cast<std::uint32_t>(graph.members()), std::move(role_of_place),
             call.slice, options.message_cap, shifts);
    result.served = fmt::format("{} routes over the {} links of the root", shipments.size(),
                                graph.links_into(at));
    return result;
}

}  // namespace

CollectiveSchedule build_gather(const CollectiveCall& call, const ScheduleOptions& options,
                                ShiftTable& shifts) {
    return build_spread(call, false, options, shifts);
}

CollectiveSchedule build_scatter(const CollectiveCall& call, const ScheduleOptions& options,
                                 ShiftTable& shifts) {
    return build_spread(call, true, options, shifts);
}

EndTraffic spread_traffic(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, call.group());
    const int root = graph.member_of(call.ends.root);
    const int n = graph.members();
    return {.bytes = call.bytes * ((n - 1.0) / n),
            .links = graph.links_into(root),
            .longest_way = std::ranges::max(graph.links_to(root))};
}

sim::Bytes spread_bound(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, call.group());
    const Collection flow = best_collection(graph, graph.member_of(call.ends.root));
    return call.bytes * (flow.time() * graph.unit() / graph.members());
}

}  // namespace podsim::collectives
