// The state of one operation, alive from its first start to its last arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/tables/transfer_table.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

inline constexpr std::uint32_t kNoTask = 0xffffffff;

/// A transfer whose predecessors have come to a place that has not started yet.
struct Early {
    FirstHop first;
    std::uint32_t next = 0;  ///< of the same place, in the operation's list
};

/// What an operation still owes a place.
struct PlaceState {
    static constexpr std::uint32_t kStarted = 0xffffffff;
    static constexpr std::uint32_t kNone = 0xfffffffe;

    std::uint32_t pending = 0;  ///< its start and its arrivals
    std::uint32_t early =
        kNone;  ///< kStarted, or the first of the transfers that wait for the start
};

struct LiveOperation {
    TransferTable* table = nullptr;  ///< nullptr: not alive
    const Schedule* schedule = nullptr;
    const RolesOfPlaces* roles = nullptr;
    std::uint32_t first_server = 0;      ///< of its set of links
    std::vector<std::uint8_t> counters;  ///< predecessors to come, as the table lays them out
    std::vector<PlaceState> places;
    std::vector<Early> early;
    std::vector<std::uint32_t> task;  ///< of every place: the task that takes part, kNoTask before
    std::size_t open_places = 0;
};

}  // namespace podsim::sim
