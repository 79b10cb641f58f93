#include "collectives/catalogue/build_schedule.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/catalogue/operations.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

/// Returns names like `auto, shortest-routes, one-way`.
std::string names(const std::vector<Algorithm>& algorithms) {
    std::string text(to_string(Algorithm::automatic));
    for (const Algorithm algorithm : algorithms) {
        text += ", " + std::string(to_string(algorithm));
    }
    return text;
}

std::string does_not_carry_out(const CollectiveCall& call) {
    return "algorithm '" + std::string(to_string(call.algorithm)) + "' does not carry out " +
           std::string(to_string(call.operation));
}

/// `across_slices`: the call runs in each of several slices.
Algorithm resolve_within_slice(const CollectiveCall& call, bool across_slices = false) {
    const OperationInfo& row = info(call.operation);
    if (call.algorithm == Algorithm::automatic) {
        return row.candidates(call).front();
    }
    const std::vector<Algorithm> list = row.algorithms(call);
    if (std::ranges::find(list, call.algorithm) != list.end()) {
        return call.algorithm;
    }
    if (call.algorithm == Algorithm::flat && row.ends == EndsTaken::none) {
        throw sim::InputError("algorithm 'flat' is for several slices",
                              "allowed for one slice: auto and the others");
    }
    throw sim::InputError(
        does_not_carry_out(call) + " on this group",
        "allowed: " + names(list) + (across_slices && !row.routed ? ", flat" : ""));
}

Algorithm resolve_between_slices(const CollectiveCall& call) {
    const OperationInfo& row = info(call.operation);
    if (row.ends != EndsTaken::none) {
        throw sim::InputError(std::string(row.name) + " between slices is not available",
                              "use axes within one slice");
    }
    CollectiveCall within = call;
    within.operation = row.within_slices;
    within.members.across = {};
    if (call.algorithm == Algorithm::flat) {
        if (row.routed) {
            throw sim::InputError(does_not_carry_out(call),
                                  "allowed: " + names(row.algorithms(within)));
        }
        return Algorithm::flat;
    }
    const Algorithm resolved = resolve_within_slice(within, true);
    // Lone chips have nothing to share: every chip exchanges on its own.
    return call.group().empty() && !row.routed ? Algorithm::flat : resolved;
}

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

Algorithm resolve(const CollectiveCall& call) {
    return call.members.span_slices() ? resolve_between_slices(call) : resolve_within_slice(call);
}

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
