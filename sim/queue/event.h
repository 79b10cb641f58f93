// A pending event: its time and its content, in 16 bytes that are copied freely. Queues order
// events by time alone and keep those of one time in push order. The executor defines the content
// (event_codec.h).
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
