#include "sim/memory/stream_ways.h"

namespace podsim::sim {

bool StreamWays::lead_back(const Machine& machine) {
    std::vector<std::size_t> reached(machine.places, machine.shifts.size());
    for (std::size_t i = 0; i < machine.shifts.size(); ++i) {
        const std::uint32_t place = machine.shifts[i];
        const std::size_t shift = i / machine.places;
        if (place == kNoPlace || reached[place] == shift) {
            return false;
        }
        reached[place] = shift;
    }
    return true;
}

std::uint32_t StreamWays::number(const StreamWay& way) {
    const auto [entry, added] = numbers_.try_emplace(way, static_cast<std::uint32_t>(ways_.size()));
    if (added) {
        ways_.push_back(way);
        std::vector<std::uint32_t>& back = back_.emplace_back();
        if (way.writes) {
            back.assign(machine_.places, kNoPlace);
            for (std::uint32_t source = 0; source < machine_.places; ++source) {
                back[machine_.shifted(way.to_shift, source)] = source;
            }
        }
    }
    return entry->second;
}

}  // namespace podsim::sim
