#include "collectives/shift_table.h"

#include "sim/machine.h"

namespace podsim::collectives {

std::uint32_t ShiftTable::number(const topology::Point& displacement) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    const auto [entry, added] = numbers_.try_emplace(displacement, next);
    if (added) {
        for (int place = 0; place < places_.size(); ++place) {
            const auto point = places_.canonical(places_.point(place) + displacement);
            table_.push_back(point ? static_cast<std::uint32_t>(places_.index(*point))
                                   : sim::kNoPlace);
        }
    }
    return entry->second;
}

}  // namespace podsim::collectives
