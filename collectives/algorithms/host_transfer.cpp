#include "collectives/algorithms/host_transfer.h"

#include "collectives/algorithms/messages.h"
#include "collectives/vocabulary/memory_passes.h"

namespace podsim::collectives {

sim::Schedule build_host_transfer(HostDirection direction, sim::Bytes bytes, sim::Bytes message_cap,
                                  ShiftTable& shifts) {
    const std::uint32_t messages = message_count(bytes, message_cap);
    const std::uint32_t here = shifts.number(Shift{});
    sim::Schedule schedule;
    const std::uint32_t links = shifts.add_host_route(direction, schedule.hops);
    for (std::uint32_t message = 0; message < messages; ++message) {
        sim::Transfer transfer;
        transfer.hop_count = links;
        transfer.destination_shift = here;
        transfer.rank = message;
        transfer.bytes = bytes / messages;
        transfer.reads = direction == HostDirection::to_host ? 1 : 0;
        transfer.writes = direction == HostDirection::to_chip ? kWritesOfCopy : 0;
        transfer.bytes_before = transfer.bytes * static_cast<double>(message);
        schedule.transfers.push_back(transfer);
    }
    schedule.roles.push_back(
        {.first_transfer = 0, .transfer_count = messages, .arrivals = messages});
    schedule.role_of_place.assign(static_cast<std::size_t>(shifts.places().size()), 0);
    return schedule;
}

}  // namespace podsim::collectives
