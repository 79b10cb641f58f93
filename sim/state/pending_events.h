// The pending events as the executor sees them: batches of like events, over one of the queues of
// event_queue.h.
//
// Two classes, EventPerHop (event_per_hop.h) and Waves (waves.h), hold the same events and have the
// same interface. The results of a run do not depend on the choice:
//   void task(kind, Time, task, place);    adds a task's event
//   Group links_free(Time, port);          begins a group of like events of hops: links that free,
//   pair<Group, number> heads_arrived(Time, wave, Messages&, Message);
//                                          a message of this number, between first and last link,
//   Group transfers_arrived(Time, wave, operation, transfer);
//                                          or a transfer at its destinations
//   void add(Group, member);               adds a server or a source; groups end with the next
//                                          play_earliest
//   Time play_earliest(deliver);           deliver(Time, Batch) all events of the earliest time
//   bool empty();  bool more_of_instant();
//   std::vector<Event> pending();  void skip(Skipped, rewrite);
//   kReplaces                              true if there is also replace(std::vector<Event>)
#pragma once

#include <cstdint>

#include "sim/base/time.h"
#include "sim/state/event_codec.h"

namespace podsim::sim {

/// True if the player's hot path is inlined (player.h). Under sanitizers it is not, since they take
/// minutes to compile it.
#if defined(__SANITIZE_ADDRESS__)  // defined by g++
inline constexpr bool kInlineHotPath = false;
#elif defined(__has_feature)  // defined by clang
inline constexpr bool kInlineHotPath = !__has_feature(address_sanitizer);
#else
inline constexpr bool kInlineHotPath = true;
#endif

/// Events of one time and kind that differ by one number alone.
template <class Members>
struct Batch {
    EventKind kind = EventKind::link_free;
    /// Task of task events, operation of arrivals, message of heads.
    std::uint32_t number = 0;
    std::uint32_t transfer = 0;  ///< of arrivals
    /// Servers or places; for arrivals and heads, the sources.
    Members members;
};

/// The distance by which pending events move when repeats have been skipped.
struct Skipped {
    Time later_by;
    std::uint32_t tasks = 0;
    std::uint32_t operations = 0;
};

}  // namespace podsim::sim
