// What a run has come to.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::sim {

struct LinkTotals {
    Time busy;
    std::int64_t carried_units = 0;  ///< in 1/1024 byte: sums are exact in any order

    [[nodiscard]] Bytes carried() const { return Bytes(static_cast<double>(carried_units) / 1024); }
    friend bool operator==(const LinkTotals&, const LinkTotals&) = default;
};

struct ExecutionResult {
    Time end;                         ///< when the last task ended
    std::vector<Time> end_of_place;   ///< when each place's last task ended
    std::vector<LinkTotals> links;    ///< [place][port]
    std::uint64_t events = 0;         ///< hops served and tasks ended
    std::uint64_t played_events = 0;  ///< those of them that were not skipped as repeats

    friend bool operator==(const ExecutionResult&, const ExecutionResult&) = default;
};

}  // namespace podsim::sim
