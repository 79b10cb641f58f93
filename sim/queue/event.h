// A pending event: when, and what. 16 bytes, copied freely; queues order events by the time alone and keep
// those of one time in the order in which they were pushed. What it says is the executor's (event_codec.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/base/time.h"

namespace podsim::sim {

struct Event {
    Time time;
    std::uint64_t what = 0;

    friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 16 && std::is_trivially_copyable_v<Event>);

}  // namespace podsim::sim
