#include "collectives/paths/shift_table.h"

#include "collectives/paths/ports.h"
#include "sim/workload/machine.h"

namespace podsim::collectives {

std::uint32_t ShiftTable::number(const Shift& shift) {
    const Key key{shift.chips[0],      shift.chips[1], shift.chips[2],       shift.slices.stride,
                  shift.slices.length, shift.ranks,    shift.to_host ? 1 : 0};
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    const auto [entry, added] = numbers_.try_emplace(key, next);
    if (!added) {
        return entry->second;
    }
    for (int place = 0; place < places_.size(); ++place) {
        auto point = places_.chips.canonical(places_.point(place) + shift.chips);
        if (!point) {
            table_.push_back(sim::kNoPlace);
            continue;
        }
        for (std::size_t axis = 0; shift.to_host && axis < topology::kAxes; ++axis) {
            (*point)[axis] -= (*point)[axis] % host_box_[axis];
        }
        // A fold keeps fewer slices than the factor has members: they stand for all of them.
        const int slice =
            places_.slices == 1
                ? 0
                : topology::slice_at(shift.slices, places_.slice_of(place), shift.ranks);
        table_.push_back(static_cast<std::uint32_t>(places_.index(*point, slice)));
    }
    return entry->second;
}

std::vector<std::uint32_t> ShiftTable::numbers_of(const ShiftTable& other) {
    std::vector<std::uint32_t> numbers(other.numbers_.size());
    for (const auto& [key, there] : other.numbers_) {
        numbers[there] = number(Shift{.chips = {key[0], key[1], key[2]},
                                      .slices = {.stride = key[3], .length = key[4]},
                                      .ranks = key[5],
                                      .to_host = key[6] != 0});
    }
    return numbers;
}

topology::MachineRoutes& ShiftTable::routes() {
    if (!routes_.has_value()) {
        routes_.emplace(places_.chips, host_box_);
    }
    return *routes_;
}

std::uint32_t ShiftTable::add(const topology::MachineRoute& route, const Shift& there,
                              std::vector<sim::Hop>& hops) {
    for (const topology::RouteLink& link : route) {
        Shift at = link.from_destination ? there : Shift{};
        at.chips = at.chips + link.chips;
        at.to_host = link.of_host;
        hops.push_back({number(at), link.kind});
        uses_hosts_ = uses_hosts_ || link.kind >= kIciPorts;
    }
    return static_cast<std::uint32_t>(route.size());
}

std::uint32_t ShiftTable::add_route(const Shift& there, std::vector<sim::Hop>& hops) {
    return add(routes().to_other_slice(there.chips), there, hops);
}

std::uint32_t ShiftTable::add_host_route(HostDirection direction, std::vector<sim::Hop>& hops) {
    return add(direction == HostDirection::to_chip ? routes().from_host() : routes().to_host(),
               Shift{}, hops);
}

int ShiftTable::links_between_slices() {
    return static_cast<int>(routes().to_other_slice({}).size());
}

std::vector<std::uint8_t> ShiftTable::index_in_host() const {
    std::vector<std::uint8_t> indices;
    for (int place = 0; place < places_.size(); ++place) {
        const topology::Point chip = places_.point(place);
        int index = 0;
        for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
            const int box = host_box_[axis];
            const int whole = places_.chips.lengths[axis] / box * box;
            const bool divided = whole == places_.chips.lengths[axis];
            index = index * (divided ? box : 2 * box) + chip[axis] % box +
                    (chip[axis] < whole ? 0 : box);
        }
        indices.push_back(static_cast<std::uint8_t>(index));
    }
    return indices;
}

}  // namespace podsim::collectives
