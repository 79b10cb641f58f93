// What is pending, as the executor sees it: batches of like events, over one of the queues of event_queue.h.
//
// The two kinds, EventPerHop (event_per_hop.h) and Waves (waves.h), hold the same events and have the same interface;
// results do not depend on which is used:
//   void task(kind, Time, task, place);                     a task's event
//   Group links_free(Time, port);                           like events that hops cause: links that free,
//   pair<Group, number> heads_arrived(Time, wave, Messages&, Message);   a message, so numbered, between its first
//                                                           link and its last,
//   Group transfers_arrived(Time, wave, operation, transfer);          a transfer at its destinations
//   void add(Group, member);                                a server or a source; groups end with
//                                                           the next play_earliest
//   Time play_earliest(deliver);                            deliver(Time, Batch) all events of the earliest
//   bool empty();  bool more_of_instant();  std::vector<Event> pending();  void skip(Skipped, rewrite);
//   kReplaces                                               whether there is also replace(std::vector<Event>)
#pragma once

#include <cstdint>

#include "sim/base/time.h"
#include "sim/state/event_codec.h"

namespace podsim::sim {

/// Whether the player's hot path is inlined (player.h): not under sanitizers, which take minutes to compile it.
#if defined(__SANITIZE_ADDRESS__)  // g++'s word
inline constexpr bool kInlineHotPath = false;
#elif defined(__has_feature)  // clang's
inline constexpr bool kInlineHotPath = !__has_feature(address_sanitizer);
#else
inline constexpr bool kInlineHotPath = true;
#endif

/// Events of one time and kind that differ by one number alone.
template <class Members>
struct Batch {
    EventKind kind = EventKind::link_free;
    std::uint32_t number =
        0;  ///< of task events the task, of arrivals the operation, of heads the message
    std::uint32_t transfer = 0;  ///< of arrivals
    Members members;             ///< places (of arrivals and heads the sources) or servers
};

/// How far what is pending must move when what repeats has been skipped.
struct Skipped {
    Time later_by;
    std::uint32_t tasks = 0;
    std::uint32_t operations = 0;
};

}  // namespace podsim::sim
