// Mixed-radix numbers and the id at each: how groups of devices are kept without listing them.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/hlo/device_groups.h"

namespace podsim::workloads::hlo {

/// A digit of a position and of the id at that position: one step of the digit adds `at` to the
/// position and `stride` to the id.
struct Place {
    std::int64_t at = 1;
    std::int64_t stride = 1;
    std::int64_t length = 1;
};
using Places = std::vector<Place>;

/// Returns the digits of the positions 0, 1, .. that `order` counts, its first digit the slowest.
/// Digits that continue each other are joined.
Places places_of(const std::vector<Digit>& order);
/// Splits a digit so that one ends at `cut`; returns false if `cut` is within a digit that it does
/// not divide.
bool cut_at(Places& places, std::int64_t cut);
/// Returns the ids at all positions, in order.
std::vector<std::int64_t> counted(const std::vector<Digit>& order);
/// Returns the number of positions.
std::int64_t ids_in(const std::vector<Digit>& order);
/// Returns groups of `size` consecutive ids.
DeviceGroups cut_up(const std::vector<std::int64_t>& flat, std::int64_t size);

}  // namespace podsim::workloads::hlo
