#include "collectives/algorithms/ring_step_schedule.h"

#include <cstdlib>

#include "collectives/algorithms/ring_steps.h"
#include "collectives/algorithms/shipments.h"
#include "collectives/paths/roles.h"
#include "collectives/vocabulary/memory_passes.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

/// The member before it: the one whose next it is.
int before_by_twos(int position, int length) {
    int member = 0;
    while (next_by_twos(member, length) != position) {
        ++member;
    }
    return member;
}

/// Members forward along the factor that the step moves a block.
int move(const Roles& roles, std::uint32_t role, const RingStep& step, int length) {
    if (roles.ring(step.factor)) {
        return step.direction;
    }
    const int position = roles.position(role, step.factor);
    return (step.direction > 0 ? next_by_twos(position, length)
                               : before_by_twos(position, length)) -
           position;
}

std::vector<Shipment> round_the_ring(const Roles& roles, const RingStep& step,
                                     const topology::AxisFactor& factor) {
    std::vector<Shipment> shipments;
    const auto send = [&](std::uint32_t role, int members, sim::Bytes bytes) {
        const int direction = members > 0 ? 1 : -1;
        std::uint32_t destination = role;
        for (int i = 0; i != members; i += direction) {
            destination = *roles.neighbour(destination, step.factor, direction);
        }
        shipments.push_back({.source = role,
                             .destination = destination,
                             .legs = {{factor.axis, direction, std::abs(members) * factor.stride}},
                             .bytes = bytes});
    };
    for (std::uint32_t role = 0; role < roles.count(); ++role) {
        if (step.direction == 0) {
            send(role, 1, step.bytes / 2);
            send(role, -1, step.bytes / 2);
        } else {
            send(role, move(roles, role, step, factor.length), step.bytes);
        }
    }
    return shipments;
}

/// Roles are the members along the factor.
std::vector<Shipment> along_the_factor(const RingStep& step, const topology::AxisFactor& factor) {
    std::vector<Shipment> shipments;
    for (int member = step.senders->first; member <= step.senders->second; ++member) {
        shipments.push_back({.source = static_cast<std::uint32_t>(member),
                             .destination = static_cast<std::uint32_t>(member + step.direction),
                             .legs = {{factor.axis, step.direction, factor.stride}},
                             .bytes = step.bytes});
    }
    return shipments;
}

}  // namespace

CollectiveSchedule build_ring_step(const topology::Lattice& slice, const Group& group,
                                   const RingStep& step, Motion motion,
                                   const ScheduleOptions& options, ShiftTable& shifts) {
    const topology::AxisFactor& factor = group[static_cast<std::size_t>(step.factor)];
    if ((options.dead_links.axes() >> factor.axis & 1U) != 0) {
        throw sim::InputError(
            "a single ring step cannot run: it does not go round the dead links "
            "of its axis",
            "use blocking collectives, or leave the links of that axis alive");
    }
    const Roles roles(slice, group, {}, step.senders.has_value());
    const std::vector<Shipment> shipments =
        step.senders ? along_the_factor(step, factor) : round_the_ring(roles, step, factor);
    std::vector<std::uint32_t> role_of_place;
    role_of_place.reserve(static_cast<std::size_t>(shifts.places().size()));
    for (int place = 0; place < shifts.places().size(); ++place) {
        role_of_place.push_back(roles.of(shifts.places(), place));
    }
    CollectiveSchedule built = ship(shipments, roles.count(), std::move(role_of_place), slice,
                                    options.message_cap, shifts);
    for (sim::Transfer& transfer : built.schedule.transfers) {
        transfer.writes = motion == Motion::reduce ? kPassesOfSum : kWritesOfCopy;
    }
    return built;
}

}  // namespace podsim::collectives
