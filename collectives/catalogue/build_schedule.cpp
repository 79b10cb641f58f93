#include "collectives/catalogue/build_schedule.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/catalogue/operations.h"
#include "collectives/catalogue/resolve.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

/// Only rings and lines go round dead links.
Algorithm around_dead_links(const CollectiveCall& call, const topology::DeadLinks& dead_links) {
    if ((axes_mask(call.group()) & dead_links.axes()) == 0) {
        return call.algorithm;
    }
    const bool routed = info(call.operation).routed;
    if (routed || call.algorithm == Algorithm::reduce_broadcast) {
        throw sim::InputError(
            std::string(routed ? to_string(call.operation) : to_string(call.algorithm)) +
                " cannot run: it does not go round the dead links of its axes",
            "use another mesh, or leave the links of those axes alive");
    }
    return call.algorithm == Algorithm::automatic ? fastest_for_large(call.group())
                                                  : call.algorithm;
}

}  // namespace

CollectiveSchedule build_schedule(const CollectiveCall& call, const ScheduleOptions& options,
                                  ShiftTable& shifts) {
    CollectiveCall resolved = call;
    if (!call.members.span_slices() || info(call.operation).routed) {
        resolved.algorithm = around_dead_links(call, options.dead_links);
    }
    resolved.algorithm = resolve(resolved);
    return info(call.operation).build(resolved, options, shifts);
}

std::optional<sim::Schedule> on_places_of(ShiftTable& shifts, const sim::Schedule& schedule,
                                          const ShiftTable& built_with) {
    if (schedule.roles.size() != 1 ||
        std::ranges::count(schedule.role_of_place, sim::kAbsent) > 0) {
        return std::nullopt;
    }
    const std::vector<std::uint32_t> number = shifts.numbers_of(built_with);
    sim::Schedule moved = schedule;
    for (sim::Hop& hop : moved.hops) {
        hop.shift = number[hop.shift];
    }
    for (sim::Transfer& transfer : moved.transfers) {
        if (transfer.hop_count > 0) {
            transfer.destination_shift = number[transfer.destination_shift];
        }
    }
    moved.role_of_place.assign(static_cast<std::size_t>(shifts.places().size()), 0);
    return moved;
}

topology::Lattice folded_places(const CollectiveCall& call) {
    return info(call.operation).places(call);
}

}  // namespace podsim::collectives
