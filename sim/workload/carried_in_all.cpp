#include "sim/workload/carried_in_all.h"

#include <cstddef>
#include <map>
#include <utility>

#include "sim/workload/result.h"

namespace podsim::sim {

std::vector<std::int64_t> carried_in_all(const Workload& workload) {
    const Machine& machine = workload.machine;
    // By schedule and placement.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> times;
    for (const OperationSpec& operation : workload.operations) {
        ++times[{operation.schedule, operation.placement}];
    }
    std::vector<std::int64_t> carried(machine.links.size());
    for (const auto& [used, count] : times) {
        const Schedule& schedule = workload.schedules[used.first];
        const std::vector<std::uint32_t>& roles = used.second == kOwnPlacement
                                                      ? schedule.role_of_place
                                                      : workload.placements[used.second];
        for (std::size_t place = 0; place < roles.size(); ++place) {
            if (roles[place] == kAbsent) {
                continue;
            }
            const Role& role = schedule.roles[roles[place]];
            for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
                const Transfer& transfer = schedule.transfers[role.first_transfer + i];
                const std::int64_t units = carried_units(transfer.bytes) * count;
                for (std::uint32_t h = 0; h < transfer.hop_count; ++h) {
                    const Hop& hop = schedule.hops[transfer.first_hop + h];
                    carried[machine.link(machine.shifted(hop.shift, place), hop.port)] += units;
                }
            }
        }
    }
    return carried;
}

}  // namespace podsim::sim
