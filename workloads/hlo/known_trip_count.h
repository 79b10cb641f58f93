// The number of iterations that XLA writes into a loop's configuration if it has found it.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Most iterations of a loop; more are refused.
inline constexpr std::int64_t kMostTrips = std::int64_t{1} << 50;

/// Reads `backend_config={"known_trip_count":{"n":"25"}}`, in quotes or not, of numbers as protocol
/// buffers write them in JSON: `25`, `"25"`, `1e9`. Returns nothing if it is missing. Throws
/// sim::InputError for anything else, and for a second count.
std::optional<std::int64_t> known_trip_count(const Module& module, const Instruction& loop);

}  // namespace podsim::workloads::hlo
