// XLA writes a count of iterations into a loop's configuration where it has found one.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// A loop of more iterations is refused.
inline constexpr std::int64_t kMostTrips = std::int64_t{1} << 50;

/// Reads `backend_config={"known_trip_count":{"n":"25"}}`, in quotes or not, of numbers as protocol
/// buffers write them in JSON: `25`, `"25"`, `1e9`. Nothing where it is not there. Throws
/// sim::InputError for what is no such number, and for a second one.
std::optional<std::int64_t> known_trip_count(const Module& module, const Instruction& loop);

}  // namespace podsim::workloads::hlo
