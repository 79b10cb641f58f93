#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "collectives/algorithms/all_to_all.h"
#include "collectives/algorithms/member_loads.h"
#include "collectives/paths/ports.h"
#include "collectives/paths/routes.h"

namespace podsim::collectives {
namespace {

/// Plain slices: axes are independent, since every order of them is used equally. Between two
/// coordinates of a coset with K members, one line of chips carries V / (n K) bytes.
double busiest_on_axis(const topology::Lattice& slice, const Group& group, int axis) {
    const int length = slice.length(axis);
    std::vector<std::array<double, 2>> load(static_cast<std::size_t>(length));
    int members = 1;
    for (const topology::AxisFactor& factor : group) {
        members *= factor.axis == axis ? factor.length : 1;
    }
    const auto base = [&](int coordinate) {
        for (const topology::AxisFactor& factor : group) {
            if (factor.axis == axis) {
                coordinate -= coordinate / factor.stride % factor.length * factor.stride;
            }
        }
        return coordinate;
    };
    for (int from = 0; from < length; ++from) {
        for (int to = 0; to < length; ++to) {
            if (from == to || base(from) != base(to)) {
                continue;
            }
            const auto ways = minimal_displacements(slice, topology::along(axis, to - from));
            for (const topology::Point& way : ways) {
                const int steps = way[static_cast<std::size_t>(axis)];
                const int direction = steps > 0 ? 1 : -1;
                for (int at = from, left = std::abs(steps); left > 0; --left) {
                    load[static_cast<std::size_t>(at)][direction > 0 ? 0 : 1] +=
                        1.0 / static_cast<double>(ways.size());
                    at = (at + direction + length) % length;
                }
            }
        }
    }
    double busiest = 0;
    for (const auto& directions : load) {
        busiest = std::max({busiest, directions[0], directions[1]});
    }
    return busiest / group_size(group) / members;
}

/// Twisted slices, or unequal members: every route of every chip is walked, or of one chip where all are alike.
double busiest_on_routes(const CollectiveCall& call) {
    const topology::Lattice& slice = call.slice;
    const Roles roles = roles_of_all_to_all(call);
    const MemberLoads loads(call, roles);
    const bool alike = roles.count() == 1;
    std::vector<double> load(static_cast<std::size_t>(slice.size()) * kIciPorts);
    const auto walk = [&](const topology::Point& chip, const Route& route, double bytes) {
        topology::Point at = chip;
        for (const Leg& leg : route.legs) {
            for (int link = 0; link < leg.links; ++link) {
                const int place = alike ? 0 : slice.index(*slice.canonical(at));
                load[static_cast<std::size_t>(place) * kIciPorts +
                     port_of(leg.axis, leg.direction)] += bytes;
                at = at + topology::along(leg.axis, leg.direction);
            }
        }
    };
    const int sources = alike ? 1 : slice.size();
    for (int source = 0; source < sources; ++source) {
        const topology::Point chip = slice.point(source);
        const std::uint32_t role = roles.of(chip);
        roles.for_each_other(role, [&](const topology::Point& displacement, std::uint32_t other) {
            for (const Route& route : minimal_routes(slice, displacement)) {
                walk(chip, route, route.share * loads.between(role, other));
            }
        });
    }
    const double n = group_size(call.group());
    return *std::max_element(load.begin(), load.end()) / n / n;
}

}  // namespace

LeastTraffic all_to_all_traffic(double n, sim::Bytes v) {
    const sim::Bytes exchanged = v * ((n - 1) / n) / n;
    return {.receive = exchanged, .send = exchanged, .mean = exchanged};
}

sim::Bytes busiest_link(const CollectiveCall& call) {
    if (call.slice.twisted() || !call.ends.loads.empty()) {
        return call.bytes * busiest_on_routes(call);
    }
    double busiest = 0;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        busiest = std::max(busiest, busiest_on_axis(call.slice, call.group(), axis));
    }
    return call.bytes * busiest;
}

}  // namespace podsim::collectives
