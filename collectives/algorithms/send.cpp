#include "collectives/algorithms/send.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/shipments.h"
#include "collectives/paths/group_graph.h"
#include "sim/base/error.h"
#include "topology/graph/flow.h"

namespace podsim::collectives {
namespace {

std::vector<std::vector<topology::Way>> ways_between(const GroupGraph& graph, const Ends& ends) {
    return topology::disjoint_ways(graph.members(), graph.arcs(), graph.member_of(ends.root),
                                   graph.member_of(ends.to));
}

double total_links(const std::vector<topology::Way>& ways) {
    double links = 0;
    for (const topology::Way& way : ways) {
        links += static_cast<double>(way.size());
    }
    return links;
}

}  // namespace

std::vector<Route> send_routes(const CollectiveCall& call, sim::Bytes hop_bytes) {
    const sim::Bytes v = call.bytes;
    if (call.ends.root == call.ends.to) {
        throw sim::InputError("a chip sends to itself", "name two different chips");
    }
    const GroupGraph graph(call.slice, whole_slice(call.slice));
    const std::vector<std::vector<topology::Way>> by_count = ways_between(graph, call.ends);
    // The unit is bytes at the rate of one link.
    const auto time = [&](const std::vector<topology::Way>& ways) {
        return (v + hop_bytes * total_links(ways)) / static_cast<double>(ways.size());
    };
    const std::vector<topology::Way>& ways = *std::ranges::min_element(by_count, {}, time);
    std::vector<Route> routes;
    for (const topology::Way& way : ways) {
        Route& route = routes.emplace_back();
        for (const int link : way) {
            route.legs.push_back(graph.links()[static_cast<std::size_t>(link)].leg);
        }
        route.share =
            ways.size() == 1 ? 1 : (time(ways) - hop_bytes * static_cast<double>(way.size())) / v;
    }
    return routes;
}

CollectiveSchedule build_send(const CollectiveCall& call, const ScheduleOptions& options,
                              ShiftTable& shifts) {
    std::vector<Shipment> shipments;
    std::vector<int> lengths;
    for (Route& route : send_routes(call, options.hop_bytes)) {
        lengths.push_back(route.links());
        shipments.push_back({.source = 1,
                             .destination = 2,
                             .legs = std::move(route.legs),
                             .bytes = call.bytes * route.share,
                             .block = 0});
    }
    std::vector<std::uint32_t> role_of_place(static_cast<std::size_t>(shifts.places().size()));
    for (int slice_number = 0; slice_number < shifts.places().slices; ++slice_number) {
        const auto place = [&](const topology::Point& chip) {
            return static_cast<std::size_t>(shifts.places().index(chip, slice_number));
        };
        role_of_place[place(call.ends.root)] = 1;
        role_of_place[place(call.ends.to)] = 2;
    }
    CollectiveSchedule result =
        ship(shipments, 3, std::move(role_of_place), call.slice, options.message_cap, shifts);
    result.served = lengths.size() == 1 ? fmt::format("one route of {} links", lengths.front())
                                        : fmt::format("{} disjoint routes of {} links",
                                                      lengths.size(), fmt::join(lengths, ", "));
    return result;
}

EndTraffic send_traffic(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, whole_slice(call.slice));
    const int from = graph.member_of(call.ends.root);
    const int to = graph.member_of(call.ends.to);
    return {.bytes = call.bytes,
            .links = std::min(graph.links_into(from), graph.links_into(to)),
            .longest_way = graph.links_to(from)[static_cast<std::size_t>(to)]};
}

sim::Bytes send_bound(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, whole_slice(call.slice));
    return call.bytes / static_cast<double>(ways_between(graph, call.ends).size());
}

std::optional<sim::Time> send_closed_form(const CollectiveCall& call,
                                          const ScheduleOptions& options, const LinkModel& link) {
    const sim::Time a = sim::round_up(link.latency);
    sim::Time most;
    for (const Route& route : send_routes(call, options.hop_bytes)) {
        const sim::Bytes bytes = call.bytes * route.share;
        const std::int64_t m = messages_of(bytes, options.message_cap);
        const sim::Bytes message = bytes / static_cast<double>(m);
        const sim::Time tau = sim::round_up(message / link.rate);
        const sim::Bytes before = message * static_cast<double>(m - 1);
        const sim::Time last =
            link.rule == sim::LatencyRule::additive
                ? tau * m + a
                : std::max(tau * m, tau * (m - 1) + a - sim::round_up(before / link.rate));
        most = std::max(most, a * (route.links() - 1) + last);
    }
    return most;
}

}  // namespace podsim::collectives
