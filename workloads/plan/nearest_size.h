// The sizes next to one that does not divide, as the remedy of an error.
#pragma once

#include <cstdint>
#include <string>

namespace podsim::workloads {

/// Names the multiples of `unit` next to `value`: `the nearest that work are 8 and 16`.
std::string nearest_multiples(std::int64_t value, std::int64_t unit);

/// Names the divisors of `number` next to `value`.
std::string nearest_divisors(std::int64_t value, std::int64_t number);

}  // namespace podsim::workloads
