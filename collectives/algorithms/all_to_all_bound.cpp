#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "collectives/algorithms/all_to_all.h"
#include "collectives/paths/ports.h"
#include "collectives/paths/routes.h"

namespace podsim::collectives {
namespace {

/// Returns the first coordinate of the coset along an axis.
int first_of_coset(const Group& group, int axis, int coordinate) {
    for (const topology::AxisFactor& factor : group) {
        if (factor.axis == axis) {
            coordinate -= coordinate / factor.stride % factor.length * factor.stride;
        }
    }
    return coordinate;
}

int members_along(const Group& group, int axis) {
    int members = 1;
    for (const topology::AxisFactor& factor : group) {
        members *= factor.axis == axis ? factor.length : 1;
    }
    return members;
}

/// Plain slices: axes are independent, since every order of them is used equally. Between two
/// coordinates of a coset with K members, one line of chips carries V / (n K) bytes.
double busiest_on_axis(const topology::Lattice& slice, const Group& group, int axis) {
    const int length = slice.length(axis);
    std::vector<std::array<double, 2>> load(static_cast<std::size_t>(length));
    for (int from = 0; from < length; ++from) {
        for (int to = 0; to < length; ++to) {
            if (from == to ||
                first_of_coset(group, axis, from) != first_of_coset(group, axis, to)) {
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
    return busiest / group_size(group) / members_along(group, axis);
}

/// Returns the load of every link in units of V / n^2: it walks every route of every chip, or of
/// one chip if all are alike.
std::vector<double> loads_on_routes(const CollectiveCall& call) {
    const topology::Lattice& slice = call.slice;
    const Roles roles = roles_of_all_to_all(call);
    const MemberLoads loads(call, roles);
    const bool alike = roles.count() == 1;
    std::vector<double> load(static_cast<std::size_t>(alike ? 1 : slice.size()) * kIciPorts);
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
    return load;
}

/// Returns the mean load of the members at each coordinate of a coset along the axis, ascending.
/// Member ranks count z fastest.
std::vector<double> loads_along(const CollectiveCall& call, int axis) {
    const auto along = static_cast<std::size_t>(members_along(call.group(), axis));
    const std::vector<double>& loads = call.ends.loads;
    if (loads.empty()) {
        return std::vector<double>(along, 1);
    }
    std::size_t faster = 1;
    for (int later = axis + 1; later < topology::kAxes; ++later) {
        faster *= static_cast<std::size_t>(members_along(call.group(), later));
    }
    std::vector<double> mean(along);
    const double share = static_cast<double>(along) / static_cast<double>(loads.size());
    for (std::size_t member = 0; member < loads.size(); ++member) {
        mean[member / faster % along] += loads[member] * share;
    }
    return mean;
}

/// Adds the bytes along one axis of a plain slice.
void carry_along(const CollectiveCall& call, int axis, LeastCarried& carried) {
    const int length = call.slice.length(axis);
    const std::vector<double> loads = loads_along(call, axis);
    const double pair = 1.0 / group_size(call.group()) / static_cast<double>(loads.size());
    const bool ring = call.slice.wraps(axis);
    const auto at = static_cast<std::size_t>(axis);
    if (!ring) {
        carried.up.at(at).resize(static_cast<std::size_t>(length));
        carried.down.at(at).resize(static_cast<std::size_t>(length));
    }
    double on_a_line = 0;
    for (int first = 0; first < length; ++first) {
        if (first_of_coset(call.group(), axis, first) != first) {
            continue;
        }
        std::vector<int> coset;
        for (int member = first; member < length; ++member) {
            if (first_of_coset(call.group(), axis, member) == first) {
                coset.push_back(member);
            }
        }
        for (std::size_t i = 0; i < coset.size(); ++i) {
            for (std::size_t j = 0; j < coset.size(); ++j) {
                const double bytes = pair * loads[call.ends.returning ? i : j];
                const int far = std::abs(coset[j] - coset[i]);
                on_a_line += bytes * (ring ? std::min(far, length - far) : far);
                auto& links = coset[i] < coset[j] ? carried.up.at(at) : carried.down.at(at);
                for (int link = std::min(coset[i], coset[j]);
                     !ring && link < std::max(coset[i], coset[j]); ++link) {
                    links[static_cast<std::size_t>(link)] += bytes * call.bytes.value();
                }
            }
        }
    }
    carried.on_axis.at(at) = call.bytes * (on_a_line / length);
    carried.all += carried.on_axis.at(at);
}

}  // namespace

LeastTraffic all_to_all_traffic(double n, sim::Bytes v) {
    const sim::Bytes exchanged = v * ((n - 1) / n) / n;
    return {.receive = exchanged, .send = exchanged, .mean = exchanged};
}

LeastCarried all_to_all_carried(const CollectiveCall& call) {
    LeastCarried carried;
    if (call.slice.twisted()) {
        const std::vector<double> load = loads_on_routes(call);
        const double chips = static_cast<double>(load.size()) / kIciPorts;
        const double n = group_size(call.group());
        carried.all = call.bytes * (std::accumulate(load.begin(), load.end(), 0.0) / chips / n / n);
        return carried;
    }
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        carry_along(call, axis, carried);
    }
    return carried;
}

sim::Bytes busiest_link(const CollectiveCall& call) {
    if (call.slice.twisted() || !call.ends.loads.empty()) {
        const std::vector<double> load = loads_on_routes(call);
        const double n = group_size(call.group());
        return call.bytes * (*std::max_element(load.begin(), load.end()) / n / n);
    }
    double busiest = 0;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        busiest = std::max(busiest, busiest_on_axis(call.slice, call.group(), axis));
    }
    return call.bytes * busiest;
}

}  // namespace podsim::collectives
