// The pending events in one total order: by time, and within one time by push order.
//
// A queue has this interface. The kernel has one queue, a radix heap; bench/queues holds those that
// it is compared with:
//   bool empty();  std::size_t size();
//   void push(Event);                        not before the time last popped
//   Event pop();                             the first
//   void pop_instant(std::vector<Event>&);   all of the earliest time, in order
//   bool more_of_instant();                  true if events of the time last popped are pending
//   std::vector<Event> pending();            all, those of one time in their order
//   void skip(Time later_by, rewrite);       moves all events later, what -> rewrite(what)
// The executor is a template over the queue: no call in it is virtual.
//
// The radix heap is the default, by measurement (docs/performance.md, hold model, 1e5 pending, ns
// for a pop and a push in one run). Exponential delays take 24, against calendar 79, our 4-ary heap
// 98, boost's 104, std::priority_queue 149, lanes 183, std::multimap 461 and boost's pairing heap
// 1000. Equal delays, as in a collective of equal messages, take 11 against 7, 94, 103, 116, 40,
// 108 and 745. Eight delays take 12 against 7, 122, 121, 139, 49, 194 and 1085. At 1e6 pending all
// but the calendar fall further behind (exponential 39 against 140 and more).
//
// The radix heap needs no tuning, while a calendar must measure the pending events. It also hands
// over whole instants, while lanes must search all fronts for the next event. As the executor's
// pending events (pending_events.h) it holds waves of like events, which more than doubles the hops
// per second.
#pragma once

#include "sim/queue/radix_queue.h"

namespace podsim::sim {

using EventQueue = RadixQueue;

}  // namespace podsim::sim
