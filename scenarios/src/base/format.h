// Numbers for people: four significant digits and a unit.
#pragma once

#include <string>

#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// Writes `2.345 s`, `12.30 ms`, `1.000 us`, `0 s`.
std::string format_time(double seconds);
/// Writes `95.00 GB`, `1.500 TB`, with decimal prefixes.
std::string format_bytes(sim::Bytes bytes);
/// Writes `90.00 GB/s`, `inf`.
std::string format_rate(sim::BytesPerSecond rate);
/// Writes `459.0 TFLOP/s`.
std::string format_flops_rate(sim::FlopsPerSecond rate);
/// Writes `1.789M`, `4.194M`, with k, M, G, T, P as in the input.
std::string format_count(double count);
/// Writes `45.60 %`.
std::string format_percent(double fraction);

}  // namespace podsim::scenarios
