// The result of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::sim {

/// Carried bytes are counted in units of 1/1024 byte, so that sums are exact in any order.
inline constexpr double kCarriedUnit = 1024;
inline std::int64_t carried_units(Bytes bytes) {
    // Bytes are never negative, so adding a half rounds to the nearest.
    const double up_to_a_half_more = bytes.value() * kCarriedUnit + 0.5;
    return static_cast<std::int64_t>(up_to_a_half_more);
}

struct LinkTotals {
    Time busy;
    std::int64_t carried_units = 0;

    [[nodiscard]] Bytes carried() const {
        return Bytes(static_cast<double>(carried_units) / kCarriedUnit);
    }
    friend bool operator==(const LinkTotals&, const LinkTotals&) = default;
};

struct ExecutionResult {
    /// End of the last task.
    Time end;
    /// End of each place's last task.
    std::vector<Time> end_of_place;
    std::vector<LinkTotals> links;  ///< [place][port]
    /// Hops served and tasks ended.
    std::uint64_t events = 0;
    /// Those of `events` that were neither skipped as repeats nor copies.
    std::uint64_t played_events = 0;

    friend bool operator==(const ExecutionResult&, const ExecutionResult&) = default;
};

}  // namespace podsim::sim
