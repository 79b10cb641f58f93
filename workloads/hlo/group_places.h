// Numbers written with digits of mixed radix, and what stands at each: how groups of devices are kept without a list of them.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/hlo/device_groups.h"

namespace podsim::workloads::hlo {

/// A digit of a number and of what stands at that number: `at` and `stride` are what one more of the digit adds to them.
struct Place {
    std::int64_t at = 1;
    std::int64_t stride = 1;
    std::int64_t length = 1;
};
using Places = std::vector<Place>;

/// Of numbers 0, 1, .. which `order` counts, the first digit the slowest, what stands there. Digits that go on with each other are one.
Places places_of(const std::vector<Digit>& order);
/// Makes `cut` the end of a digit; false where it is within one and does not divide it.
bool cut_at(Places& places, std::int64_t cut);
/// All that stands there, in order.
std::vector<std::int64_t> counted(const std::vector<Digit>& order);
/// How many that are.
std::int64_t ids_in(const std::vector<Digit>& order);
/// Groups of `size` that follow each other.
DeviceGroups cut_up(const std::vector<std::int64_t>& flat, std::int64_t size);

}  // namespace podsim::workloads::hlo
