// The links that the messages of a slot cross.
#include "collectives/algorithms/ring_builder.h"
#include "sim/base/error.h"

namespace podsim::collectives {

using topology::AxisFactor;

auto ScheduleBuilder::find_way(std::uint32_t role, const Phase& spec, int direction, int distance)
    -> Way {
    const auto first_hop = static_cast<std::uint32_t>(result_.schedule.hops.size());
    const std::uint32_t hop_count = add_hops(role, spec, direction, distance);
    return {.first_hop = first_hop,
            .hop_count = hop_count,
            .destination_shift = destination(spec, direction, distance),
            .destination_role = destination_role(role, spec, direction, distance)};
}

auto ScheduleBuilder::way_again(const Way& way) -> Way {
    std::vector<sim::Hop>& hops = result_.schedule.hops;
    Way again = way;
    again.first_hop = static_cast<std::uint32_t>(hops.size());
    for (std::uint32_t hop = 0; hop < way.hop_count; ++hop) {
        hops.push_back(sim::Hop(hops[way.first_hop + hop]));
    }
    return again;
}

std::uint32_t ScheduleBuilder::add_hops(std::uint32_t role, const Phase& spec, int direction,
                                        int distance) {
    std::vector<sim::Hop>& hops = result_.schedule.hops;
    const std::size_t before = hops.size();
    if (spec.factor == kBetweenSlices) {
        shifts_.add_route(Shift{.slices = across_, .ranks = distance}, hops);
    } else {
        const AxisFactor& f = factor(spec.factor);
        for (int link = 0; link < f.stride; ++link) {
            add_hop_round(role, topology::along(f.axis, direction * link), f.axis, direction);
        }
    }
    return static_cast<std::uint32_t>(hops.size() - before);
}

void ScheduleBuilder::add_hop_round(std::uint32_t role, const topology::Point& at, int axis,
                                    int direction) {
    std::vector<sim::Hop>& hops = result_.schedule.hops;
    const auto cross = [&](const topology::Point& from, int along_axis, int towards) {
        hops.push_back({shifts_.number(from), port_of(along_axis, towards)});
    };
    const topology::Places& places = dead_links_.places();
    const auto there = [&](const topology::Point& displacement) {
        const int place = static_cast<int>(role);
        return places.index(*places.chips.canonical(places.point(place) + displacement),
                            places.slice_of(place));
    };
    if (!roles_.by_place() || !dead_links_.blocked(there(at), axis, direction)) {
        cross(at, axis, direction);
        return;
    }
    for (int aside = 0; aside < topology::kAxes; ++aside) {
        for (const int side : {1, -1}) {
            if (aside == axis || dead_links_.blocked(there(at), aside, side)) {
                continue;
            }
            const topology::Point beside = at + topology::along(aside, side);
            const topology::Point beyond = beside + topology::along(axis, direction);
            if (there(beside) != there(at) &&
                !dead_links_.blocked(there(beside), axis, direction) &&
                !dead_links_.blocked(there(beyond), aside, -side)) {
                cross(at, aside, side);
                cross(beside, axis, direction);
                cross(beyond, aside, -side);
                return;
            }
        }
    }
    const topology::Point chip = places.point(there(at));
    throw sim::InputError("a collective cannot run: the link along " +
                              std::string(1, topology::axis_name(axis)) + " at chip " +
                              std::to_string(chip[0]) + ',' + std::to_string(chip[1]) + ',' +
                              std::to_string(chip[2]) + " is dead, and so are the ways round it",
                          "leave that link alive, or use a mesh that does not need it");
}

std::uint32_t ScheduleBuilder::destination_role(std::uint32_t role, const Phase& spec,
                                                int direction, int distance) const {
    return spec.factor == kBetweenSlices ? roles_.in_slice(role, across_, distance)
                                         : *roles_.neighbour(role, spec.factor, direction);
}

std::uint32_t ScheduleBuilder::destination(const Phase& spec, int direction, int distance) {
    if (spec.factor == kBetweenSlices) {
        return shifts_.number(Shift{.slices = across_, .ranks = distance});
    }
    const AxisFactor& f = factor(spec.factor);
    return shifts_.number(topology::along(f.axis, direction * f.stride));
}

}  // namespace podsim::collectives
