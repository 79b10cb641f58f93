#include "collectives/catalogue/bounds.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include "collectives/catalogue/operations.h"
#include "collectives/paths/routes.h"

namespace podsim::collectives {
namespace {

/// Returns the exchange within one of the slices: every member of an AllToAll sends the same to
/// each.
CollectiveCall exchange_within_slice(const CollectiveCall& call) {
    const double slices = call.members.across.length;
    CollectiveCall within = call;
    within.members.across = {};
    within.bytes = call.bytes / slices / slices;
    return within;
}

sim::Seconds bound_within_slice(const CollectiveCall& call, sim::BytesPerSecond link_one_way) {
    const OperationInfo& row = info(call.operation);
    if (row.ends != EndsTaken::two_chips && group_size(call.group()) <= 1) {
        return {};
    }
    return row.bound(call) / link_one_way;
}

sim::Seconds bound_between_slices(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                                  const SliceLinks& links) {
    const Members& members = call.members;
    const LeastTraffic chip = least_traffic(call.operation, members.size(), call.bytes);
    const LinkCount ici = links_per_member(call.slice, members.group);
    const sim::BytesPerSecond fewest = link_one_way * ici.fewest + links.pcie;
    const sim::BytesPerSecond mean = link_one_way * ici.mean + links.pcie;
    const sim::Seconds at_chip =
        std::max({chip.receive / fewest, chip.send / fewest, chip.mean / mean});

    const LeastTraffic between = least_traffic(call.operation, members.across.length, call.bytes);
    const double groups = static_cast<double>(call.slice.size()) / group_size(members.group);
    const sim::Bytes out = std::max({between.receive, between.send, between.mean}) * groups;
    const sim::BytesPerSecond all_pcie = links.pcie * static_cast<double>(call.slice.size());
    const sim::BytesPerSecond all_dcn = links.dcn * static_cast<double>(links.hosts);
    const sim::Seconds within = info(call.operation).routed
                                    ? bound_within_slice(exchange_within_slice(call), link_one_way)
                                    : sim::Seconds{};
    return std::max({at_chip, out / all_dcn, out / all_pcie, within});
}

/// Returns the text's time of an AllGather.
sim::Seconds book_gather(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                         sim::Seconds hop_latency) {
    double hops = 0;
    double links = 0;
    unsigned counted = 0;
    for (const topology::AxisFactor& factor : call.group()) {
        const bool ring = walked_as_ring(call.slice, call.group(), factor);
        hops += ring ? factor.length / 2.0 : factor.length - 1;
        if ((counted >> factor.axis & 1U) == 0) {
            links += ring ? 2 : 1;
            counted |= 1U << factor.axis;
        }
    }
    const double n = group_size(call.group());
    const sim::Bytes carried =
        has_line(call.slice, call.group()) ? call.bytes * ((n - 1) / n) : call.bytes;
    return std::max(carried / (link_one_way * links), hop_latency * hops);
}

/// Returns the text's time of an AllToAll: V A / (4 N W) over the longest axis, with A of N members
/// along it. The middle of a line carries twice that in one direction. Hops are a quarter of an
/// AllGather's.
sim::Seconds book_exchange(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                           sim::Seconds hop_latency) {
    std::array<double, topology::kAxes> members{};
    std::array<bool, topology::kAxes> closed{};
    double hops = 0;
    for (const topology::AxisFactor& factor : call.group()) {
        const bool ring = walked_as_ring(call.slice, call.group(), factor);
        const auto axis = static_cast<std::size_t>(factor.axis);
        members.at(axis) = std::max(members.at(axis), 1.0) * factor.length;
        closed.at(axis) = closed.at(axis) || ring;
        hops += ring ? factor.length / 2.0 : factor.length - 1;
    }
    double share = 0;
    for (std::size_t axis = 0; axis < members.size(); ++axis) {
        share = std::max(share, members.at(axis) / (closed.at(axis) ? 2 : 1));
    }
    share /= group_size(call.group());
    return std::max(call.bytes * share / link_one_way, hop_latency * hops) * (1.0 / 4);
}

sim::Seconds book_within_slice(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                               sim::Seconds hop_latency) {
    const OperationInfo& row = info(call.operation);
    if (row.end_traffic != nullptr) {
        const EndTraffic least = row.end_traffic(call);
        return std::max(least.bytes / (link_one_way * least.links),
                        hop_latency * least.longest_way);
    }
    if (group_size(call.group()) <= 1) {
        return {};
    }
    return row.operation == Operation::all_to_all
               ? book_exchange(call, link_one_way, hop_latency)
               : book_gather(call, link_one_way, hop_latency) * row.book_gathers;
}

}  // namespace

HandoverLinks handover_links(const topology::Lattice& slice, const topology::Point& displacement) {
    HandoverLinks links;
    for (const Route& route : minimal_routes(slice, displacement)) {
        ++links.routes;
        links.links = route.links();
        for (const Leg& leg : route.legs) {
            links.axes |= 1U << leg.axis;
        }
    }
    return links;
}

LeastTraffic least_traffic(Operation operation, int members, sim::Bytes v) {
    const OperationInfo& row = info(operation);
    return members <= 1 || row.least_traffic == nullptr ? LeastTraffic{}
                                                        : row.least_traffic(members, v);
}

std::optional<LeastCarried> least_carried(const CollectiveCall& call) {
    assert(!call.members.span_slices());
    const OperationInfo& row = info(call.operation);
    return row.carried == nullptr ? std::nullopt : std::optional(row.carried(call));
}

sim::Bytes least_memory(Operation operation, int members, sim::Bytes v) {
    return members <= 1 ? sim::Bytes{} : v * info(operation).least_memory(members);
}

sim::Seconds physical_bound(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                            const SliceLinks& links) {
    return call.members.span_slices() ? bound_between_slices(call, link_one_way, links)
                                      : bound_within_slice(call, link_one_way);
}

sim::Seconds book_time(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                       sim::Seconds hop_latency, const SliceLinks& links) {
    if (!call.members.span_slices()) {
        return book_within_slice(call, link_one_way, hop_latency);
    }
    const OperationInfo& row = info(call.operation);
    assert(row.book_between_slices != nullptr && "operations with ends stay within a slice");
    const sim::Seconds within = book_within_slice(row.routed ? exchange_within_slice(call) : call,
                                                  link_one_way, hop_latency);
    const double groups = static_cast<double>(call.slice.size()) / group_size(call.group());
    const double times = row.book_between_slices(call.members.across.length);
    return std::max(within,
                    call.bytes * (groups * times) / (links.dcn * static_cast<double>(links.hosts)));
}

}  // namespace podsim::collectives
