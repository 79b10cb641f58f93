#include "collectives/algorithms/handover.h"

#include <utility>

#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/shipments.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

CollectiveSchedule between_slices(const HandoverTo& to, sim::Bytes bytes,
                                  const ScheduleOptions& options, ShiftTable& shifts) {
    CollectiveSchedule result;
    sim::Schedule& schedule = result.schedule;
    const Shift there{.chips = to.chips, .slices = to.across, .ranks = to.ranks};
    const std::uint32_t links = shifts.add_route(there, schedule.hops);
    result.hops = static_cast<int>(links);
    const std::uint32_t count = message_count(bytes, options.message_cap);
    sim::Transfer transfer;
    transfer.hop_count = links;
    transfer.destination_shift = shifts.number(there);
    transfer.bytes = bytes / static_cast<double>(count);
    for (std::uint32_t message = 0; message < count; ++message) {
        transfer.rank = message;
        transfer.bytes_before = transfer.bytes * static_cast<double>(message);
        schedule.transfers.push_back(transfer);
        result.payloads.push_back({.low = message, .high = message + 1, .unit = count});
    }
    schedule.roles = {{.first_transfer = 0, .transfer_count = count, .arrivals = 0},
                      {.first_transfer = count, .transfer_count = 0, .arrivals = count}};
    return result;
}

}  // namespace

CollectiveSchedule build_handover(const topology::Lattice& slice, const HandoverTo& to,
                                  sim::Bytes bytes, const ScheduleOptions& options,
                                  ShiftTable& shifts) {
    if (to.ranks != 0) {
        return between_slices(to, bytes, options, shifts);
    }
    std::vector<Shipment> shipments;
    for (Route& route : minimal_routes(slice, to.chips)) {
        for (const Leg& leg : route.legs) {
            if ((options.dead_links.axes() >> leg.axis & 1U) != 0) {
                throw sim::InputError(
                    std::string("a handover along ") + topology::axis_name(leg.axis) +
                        ", which has a dead link: handovers do not go round dead links",
                    "leave the links along that axis alive, or use another axis");
            }
        }
        shipments.push_back({.source = 0,
                             .destination = 1,
                             .legs = std::move(route.legs),
                             .bytes = bytes * route.share,
                             .block = 0});
    }
    return ship(shipments, 2, {}, slice, options.message_cap, shifts);
}

}  // namespace podsim::collectives
