#include "sim/folding/snapshot.h"

#include <algorithm>

namespace podsim::sim {

std::size_t Snapshot::size_in_bytes() const {
    return state.size_in_bytes() + tasks.size() * sizeof(tasks[0]) +
           needs.size() * sizeof(needs[0]) + links.size() * sizeof(links[0]);
}

std::size_t Snapshot::near_tasks(std::uint32_t period) const {
    std::uint32_t last = mark;
    std::size_t near = 0;
    while (near < tasks.size() && tasks[near] <= last + period) {
        last = std::max(last, tasks[near++]);
    }
    return near;
}

bool Snapshot::is_image_of(const Snapshot& earlier) const {
    const std::uint32_t period = mark - earlier.mark;
    const std::size_t near = near_tasks(period);
    if (state != earlier.state || needs != earlier.needs || tasks.size() != earlier.tasks.size() ||
        near != earlier.near_tasks(period) || near == 0 ||
        lowest_open - earlier.lowest_open != period) {
        return false;
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i] != earlier.tasks[i] + (i < near ? period : 0)) {
            return false;
        }
    }
    const std::size_t places = needs.size() / tasks.size();
    const auto far = needs.begin() + static_cast<std::ptrdiff_t>(near * places);
    return std::find(far, needs.end(), 0) == needs.end();
}

}  // namespace podsim::sim
