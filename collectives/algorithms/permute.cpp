#include "collectives/algorithms/permute.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "collectives/algorithms/shipments.h"
#include "collectives/paths/group_graph.h"
#include "collectives/paths/roles.h"

namespace podsim::collectives {
namespace {

int destination(const GroupGraph& graph, int member, int shift) {
    const int n = graph.members();
    return ((member + shift) % n + n) % n;
}

topology::Point displacement(const GroupGraph& graph, int member, int shift) {
    return graph.place_of(destination(graph, member, shift)) - graph.place_of(member);
}

/// Returns [d]: the number of members that move d chips forward round a wrapped axis.
std::map<int, int> moves_round(const topology::Lattice& slice, const GroupGraph& graph, int axis,
                               int shift) {
    const int length = slice.length(axis);
    std::map<int, int> moves;
    for (int member = 0; member < graph.members(); ++member) {
        const int d = displacement(graph, member, shift)[static_cast<std::size_t>(axis)];
        ++moves[(d % length + length) % length];
    }
    return moves;
}

/// The crossings from each chip to the next (`up`) and back (`down`) along an axis that does not
/// wrap, in units of one member's shard, as the mean over the axis' lines.
struct Crossings {
    std::vector<double> up;
    std::vector<double> down;
};

Crossings crossings(const topology::Lattice& slice, const GroupGraph& graph, int axis, int shift) {
    const auto at = static_cast<std::size_t>(axis);
    const int length = slice.length(axis);
    Crossings sums{std::vector<double>(static_cast<std::size_t>(length)),
                   std::vector<double>(static_cast<std::size_t>(length))};
    int alike = 0;  // members that share a coordinate
    for (int member = 0; member < graph.members(); ++member) {
        alike += graph.place_of(member)[at] == 0 ? 1 : 0;
    }
    // One line of chips along the axis stands for length / n of a group. All groups are alike, at
    // every offset that a group can have along the axis.
    for (int chip = 0; chip < length; ++chip) {
        for (int member = 0; member < graph.members(); ++member) {
            // Chips at this coordinate are members with its digit along the axis.
            if (graph.place_of(graph.member_of(topology::along(axis, chip)))[at] !=
                graph.place_of(member)[at]) {
                continue;
            }
            const int to = chip + displacement(graph, member, shift)[at];
            for (int cut = std::min(chip, to); cut < std::max(chip, to); ++cut) {
                (to > chip ? sums.up : sums.down)[static_cast<std::size_t>(cut)] += 1.0 / alike;
            }
        }
    }
    return sums;
}

/// Returns the lower bound of the busiest link's bytes along an axis, in units of one member's
/// shard.
double least_on_axis(const topology::Lattice& slice, const GroupGraph& graph, int axis, int shift) {
    if (!slice.wraps(axis)) {
        const Crossings sums = crossings(slice, graph, axis, shift);
        return std::max(*std::ranges::max_element(sums.up), *std::ranges::max_element(sums.down));
    }
    const int length = slice.length(axis);
    const std::map<int, int> moves = moves_round(slice, graph, axis, shift);
    double most = 0;
    for (const auto& [turn, any] : moves) {
        const double p = length - turn;
        const double q = turn;
        double sum = 0;
        for (const auto& [d, count] : moves) {
            sum += count * std::min(p * d, q * (length - d));
        }
        most = std::max(most, sum / graph.members() / (p + q));
    }
    return most;
}

/// Adds what the shards put on the links of an axis.
void carry_along(const CollectiveCall& call, const GroupGraph& graph, int axis,
                 LeastCarried& carried) {
    const auto at = static_cast<std::size_t>(axis);
    const int length = call.slice.length(axis);
    const sim::Bytes share = call.bytes / graph.members();
    double links = 0;  // mean of a member
    if (call.slice.wraps(axis)) {
        for (const auto& [d, count] : moves_round(call.slice, graph, axis, call.ends.shift)) {
            links += static_cast<double>(count) * std::min(d, length - d) / graph.members();
        }
    } else {
        Crossings sums = crossings(call.slice, graph, axis, call.ends.shift);
        for (std::vector<double>* const side : {&sums.up, &sums.down}) {
            for (double& crossing : *side) {
                links += crossing / length;
                crossing *= share.value();
            }
        }
        carried.up.at(at) = std::move(sums.up);
        carried.down.at(at) = std::move(sums.down);
    }
    carried.on_axis.at(at) = share * links;
    carried.all += carried.on_axis.at(at);
}

/// Returns the chips forward along a wrapped axis.
int forward(const topology::Lattice& slice, const topology::Point& move, int axis) {
    const int length = slice.length(axis);
    return (move[static_cast<std::size_t>(axis)] % length + length) % length;
}

/// A segment of a move along one axis or several.
struct Piece {
    topology::Point move;
    double share = 1;
};

/// Returns shortest routes; along the axes of `around` (bit a: axis a), in both directions round.
std::vector<Route> routes_of(const topology::Lattice& slice, const topology::Point& move,
                             unsigned around) {
    if (around == 0) {
        return minimal_routes(slice, move);
    }
    std::vector<Piece> parts{{}};
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        std::vector<Piece> ways;
        const double length = slice.length(axis);
        if (const int d = forward(slice, move, axis); (around >> axis & 1U) != 0 && d != 0) {
            ways = {{topology::along(axis, d), (length - d) / length},
                    {topology::along(axis, d - slice.length(axis)), d / length}};
        } else {
            const auto minimal = minimal_displacements(
                slice, topology::along(axis, move[static_cast<std::size_t>(axis)]));
            for (const topology::Point& way : minimal) {
                ways.push_back({way, 1 / static_cast<double>(minimal.size())});
            }
        }
        std::vector<Piece> longer;
        for (const Piece& part : parts) {
            for (const Piece& way : ways) {
                longer.push_back({part.move + way.move, part.share * way.share});
            }
        }
        parts = std::move(longer);
    }
    std::vector<Route> routes;
    for (const Piece& part : parts) {
        for (Route& route : ordered_routes(part.move)) {
            route.share *= part.share;
            routes.push_back(std::move(route));
        }
    }
    return routes;
}

/// The cost of a choice of routes: the shards on the busiest link, and the links of the longest
/// route.
struct Ways {
    double busiest = 0;
    int longest = 0;
};

/// Returns the cost over all groups together, since their members' routes share links. `places` is
/// distinct_places().
Ways ways_of(const topology::Lattice& slice, const topology::Lattice& places,
             const GroupGraph& graph, int shift, unsigned around) {
    std::map<topology::Point, std::vector<Route>> routes;  // by displacement
    std::vector<double> carried(static_cast<std::size_t>(places.size()) * topology::kAxes * 2);
    Ways ways;
    for (int place = 0; place < places.size(); ++place) {
        const topology::Point from = places.point(place);
        const topology::Point move = displacement(graph, graph.member_of(from), shift);
        const auto [entry, added] = routes.try_emplace(move);
        if (added) {
            entry->second = routes_of(slice, move, around);
        }
        for (const Route& route : entry->second) {
            ways.longest = std::max(ways.longest, route.links());
            topology::Point at = from;
            for (const Leg& leg : route.legs) {
                const auto axis = static_cast<std::size_t>(leg.axis);
                const std::size_t way = axis * 2 + (leg.direction > 0 ? 0 : 1);
                for (int link = 0; link < leg.links; ++link) {
                    const auto here = static_cast<std::size_t>(places.index(at));
                    double& load = carried[here * topology::kAxes * 2 + way];
                    load += route.share;
                    ways.busiest = std::max(ways.busiest, load);
                    const int length = places.lengths[axis];
                    at[axis] = (at[axis] + leg.direction + length) % length;
                }
            }
        }
    }
    return ways;
}

/// Returns the axes along which both directions pay, by the estimate of the header.
unsigned axes_around(const topology::Lattice& slice, const Group& group, const GroupGraph& graph,
                     int shift, sim::Bytes share, sim::Bytes hop_bytes) {
    unsigned may = 0;  // axes that wrap and along which a member moves
    for (int member = 0; member < graph.members() && !slice.twisted(); ++member) {
        const topology::Point move = displacement(graph, member, shift);
        for (int axis = 0; axis < topology::kAxes; ++axis) {
            may |= slice.wraps(axis) && forward(slice, move, axis) != 0 ? 1U << axis : 0U;
        }
    }
    const topology::Lattice places = distinct_places(slice, group);
    const auto time = [&](unsigned around) {
        const Ways ways = ways_of(slice, places, graph, shift, around);
        return share * ways.busiest + hop_bytes * ways.longest;
    };
    unsigned best = 0;
    sim::Bytes least = may == 0 ? sim::Bytes{} : time(0);
    for (unsigned around = 1; around <= may; ++around) {
        if ((around & ~may) != 0) {
            continue;
        }
        // Times are sums of shares: a difference within their rounding is no gain.
        if (const sim::Bytes taken = time(around); taken < least * (1 - 1e-12)) {
            best = around;
            least = taken;
        }
    }
    return best;
}

}  // namespace

bool moves_alike(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, call.group());
    const Roles roles(call.slice, call.group());
    std::map<std::uint32_t, topology::Point> of_role;
    for (int member = 0; member < graph.members(); ++member) {
        const topology::Point moved =
            reduced(call.slice, displacement(graph, member, call.ends.shift));
        const auto [entry, added] = of_role.try_emplace(roles.of(graph.place_of(member)), moved);
        if (entry->second != moved) {
            return false;
        }
    }
    return true;
}

CollectiveSchedule build_permute(const CollectiveCall& call, const ScheduleOptions& options,
                                 ShiftTable& shifts) {
    const topology::Lattice& slice = call.slice;
    const int shift = call.ends.shift;
    const GroupGraph graph(slice, call.group());
    const Roles roles(slice, call.group());
    const int n = graph.members();
    const bool alike = moves_alike(call);
    const auto role_of = [&](int member) {
        return alike ? roles.of(graph.place_of(member)) : static_cast<std::uint32_t>(member);
    };
    std::vector<bool> done(static_cast<std::size_t>(alike ? static_cast<int>(roles.count()) : n));
    const unsigned around =
        call.algorithm == Algorithm::shortest
            ? 0
            : axes_around(slice, call.group(), graph, shift, call.bytes / n, options.hop_bytes);
    std::vector<Shipment> shipments;
    for (int member = 0; member < n; ++member) {
        const int to = destination(graph, member, shift);
        if (done[role_of(member)] || to == member) {
            continue;
        }
        done[role_of(member)] = true;
        for (Route& route : routes_of(slice, displacement(graph, member, shift), around)) {
            shipments.push_back({.source = role_of(member),
                                 .destination = role_of(to),
                                 .legs = std::move(route.legs),
                                 .bytes = call.bytes * (route.share / n),
                                 .block = static_cast<int>(role_of(member))});
        }
    }
    std::vector<std::uint32_t> role_of_place;
    role_of_place.reserve(static_cast<std::size_t>(shifts.places().size()));
    for (int place = 0; place < shifts.places().size(); ++place) {
        role_of_place.push_back(role_of(graph.member_of(shifts.places().point(place))));
    }
    return ship(shipments, static_cast<std::uint32_t>(done.size()), std::move(role_of_place), slice,
                options.message_cap, shifts);
}

EndTraffic permute_traffic(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, call.group());
    int longest = 0;
    for (int member = 0; member < graph.members(); ++member) {
        const topology::Point move = displacement(graph, member, call.ends.shift);
        longest = std::max(longest, minimal_routes(call.slice, move).front().links());
    }
    return {.bytes = call.bytes / graph.members(), .links = 1, .longest_way = longest};
}

LeastCarried permute_carried(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, call.group());
    LeastCarried carried;
    if (call.slice.twisted()) {
        for (int member = 0; member < graph.members(); ++member) {
            const topology::Point move = displacement(graph, member, call.ends.shift);
            carried.all += call.bytes * (minimal_routes(call.slice, move).front().links() /
                                         std::pow(graph.members(), 2));
        }
        return carried;
    }
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        carry_along(call, graph, axis, carried);
    }
    return carried;
}

sim::Bytes permute_bound(const CollectiveCall& call) {
    const GroupGraph graph(call.slice, call.group());
    const sim::Bytes share = call.bytes / graph.members();
    std::vector<double> links_in(static_cast<std::size_t>(graph.members()));
    for (const GroupLink& link : graph.links()) {
        links_in[static_cast<std::size_t>(link.to)] += 1;
    }
    double most = 0;
    for (int member = 0; member < graph.members(); ++member) {
        const int to = destination(graph, member, call.ends.shift);
        if (to != member) {
            most = std::max(most, 1 / links_in[static_cast<std::size_t>(to)]);
        }
    }
    for (int axis = 0; axis < topology::kAxes && !call.slice.twisted(); ++axis) {
        most = std::max(most, least_on_axis(call.slice, graph, axis, call.ends.shift));
    }
    return share * most;
}

}  // namespace podsim::collectives
