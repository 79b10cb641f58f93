#include "collectives/algorithms/shipments.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "collectives/algorithms/messages.h"

namespace podsim::collectives {
namespace {

int links_of(const std::vector<Leg>& legs) {
    return Route{legs, 1}.links();
}

/// Adds the hops of a shipment; returns its transfer without bytes.
sim::Transfer add_hops(const Shipment& shipment, const topology::Lattice& slice,
                       sim::Schedule& schedule, ShiftTable& shifts) {
    sim::Transfer transfer;
    transfer.first_hop = static_cast<std::uint32_t>(schedule.hops.size());
    topology::Point at{};
    for (const Leg& leg : shipment.legs) {
        for (int link = 0; link < leg.links; ++link) {
            schedule.hops.push_back({shifts.number(at), port_of(leg.axis, leg.direction)});
            at = reduced(slice, at + topology::along(leg.axis, leg.direction));
        }
    }
    transfer.hop_count = static_cast<std::uint32_t>(schedule.hops.size()) - transfer.first_hop;
    transfer.destination_shift = shifts.number(at);
    return transfer;
}

}  // namespace

topology::Point reduced(const topology::Lattice& slice, topology::Point displacement) {
    for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
        const int length = slice.lengths[axis];
        while (slice.wrapped[axis] && (displacement[axis] < 0 || displacement[axis] >= length)) {
            const int turn = displacement[axis] < 0 ? -1 : 1;
            displacement[axis] -= turn * length;
            displacement = displacement + slice.wrap_shift[axis] * turn;
        }
    }
    return displacement;
}

CollectiveSchedule ship(std::span<const Shipment> shipments, std::uint32_t roles,
                        std::vector<std::uint32_t> role_of_place, const topology::Lattice& slice,
                        sim::Bytes message_cap, ShiftTable& shifts) {
    CollectiveSchedule result;
    sim::Schedule& schedule = result.schedule;
    schedule.roles.resize(roles);
    schedule.role_of_place = std::move(role_of_place);

    double transfers = 0;
    std::vector<std::vector<std::size_t>> of_role(roles);
    for (std::size_t s = 0; s < shipments.size(); ++s) {
        transfers += std::max(1.0, std::ceil(shipments[s].bytes / message_cap));
        of_role[shipments[s].source].push_back(s);
        result.hops = std::max(result.hops, links_of(shipments[s].legs));
    }
    if (!(transfers < kMostMessages)) {
        throw TooManyMessages();
    }
    std::map<int, std::uint32_t> pieces;  // of a block
    std::uint64_t rank = 0;
    for (std::uint32_t role = 0; role < roles; ++role) {
        schedule.roles[role].first_transfer = static_cast<std::uint32_t>(schedule.transfers.size());
        for (const std::size_t s : of_role[role]) {
            const Shipment& shipment = shipments[s];
            sim::Transfer transfer = add_hops(shipment, slice, schedule, shifts);
            transfer.phase = static_cast<std::uint32_t>(result.hops) - transfer.hop_count;
            transfer.phase_per_hop = 1;
            const std::uint32_t count = messages_of(shipment.bytes, message_cap);
            transfer.bytes = shipment.bytes / static_cast<double>(count);
            for (std::uint32_t message = 0; message < count; ++message) {
                transfer.rank = rank++;
                transfer.bytes_before = transfer.bytes * static_cast<double>(message);
                schedule.transfers.push_back(transfer);
                const std::uint32_t piece = pieces[shipment.block]++;
                result.payloads.push_back(
                    {.block = shipment.block, .low = piece, .high = piece + 1});
            }
            schedule.roles[shipment.destination].arrivals += count;
        }
        schedule.roles[role].transfer_count =
            static_cast<std::uint32_t>(schedule.transfers.size()) -
            schedule.roles[role].first_transfer;
    }
    for (Payload& payload : result.payloads) {
        payload.unit = pieces[payload.block];
    }
    return result;
}

}  // namespace podsim::collectives
