#include "sim/folding/workload_symmetry.h"

#include <map>
#include <utility>

namespace podsim::sim {

bool machine_is_symmetric(const Workload& workload, const Mirror& mirror) {
    const Machine& machine = workload.machine;
    for (std::size_t place = 0; place < machine.places; ++place) {
        const std::size_t image = mirror.place[place];
        if (mirror.place[image] != place ||
            workload.graph_of_place[place] != workload.graph_of_place[image] ||
            (!machine.slowdown.empty() && machine.slowdown[place] != machine.slowdown[image])) {
            return false;
        }
        for (std::size_t port = 0; port < machine.ports; ++port) {
            if (machine.links[machine.link(place, port)] !=
                machine.links[machine.link(image, mirror.port[port])]) {
                return false;
            }
        }
    }
    return true;
}

bool placements_are_symmetric(const Workload& workload, const Mirror& mirror) {
    for (const OperationSpec& operation : workload.operations) {
        if (operation.placement == kOwnPlacement) {
            continue;
        }
        const std::vector<std::uint32_t>& placed = workload.placements[operation.placement];
        const std::vector<std::uint32_t>& own =
            workload.schedules[operation.schedule].role_of_place;
        for (std::size_t place = 0; place < placed.size(); ++place) {
            if ((placed[place] != kAbsent && placed[place] != own[place]) ||
                (placed[place] == kAbsent) != (placed[mirror.place[place]] == kAbsent)) {
                return false;
            }
        }
    }
    return true;
}

Workload with_places(Workload workload) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> placed;
    for (OperationSpec& operation : workload.operations) {
        if (operation.placement == kOwnPlacement ||
            !workload.schedules[operation.schedule].role_of_place.empty()) {
            continue;
        }
        const auto [entry, added] =
            placed.try_emplace({operation.schedule, operation.placement},
                               static_cast<std::uint32_t>(workload.schedules.size()));
        if (added) {
            Schedule schedule = workload.schedules[operation.schedule];
            schedule.role_of_place = workload.placements[operation.placement];
            workload.schedules.push_back(std::move(schedule));
        }
        operation.schedule = entry->second;
        operation.placement = kOwnPlacement;
    }
    return workload;
}

}  // namespace podsim::sim
