// The pending events, in one total order: by time, and within one time in the order in which they were pushed.
//
// Five implementations, proven equal by the sequences that they pop (tests/sim/event_queue_test.cpp), with one
// interface:
//   bool empty();  std::size_t size();
//   void push(Event);                        not before the time last popped
//   Event pop();                             the first
//   void pop_instant(std::vector<Event>&);   all of the earliest time, in order
//   bool more_of_instant();                  whether events of the time last popped are pending
//   std::vector<Event> pending();            all, those of one time in their order
//   void skip(Time later_by, rewrite);       moves all events later, what -> rewrite(what)
// The executor is a template over the queue: no call in it is virtual.
//
// The default is the radix heap, by measurement (docs/performance.md, hold model, 1e5 pending, ns for a pop and a push
// in one run): exponential delays 37, calendar 102, boost's 4-ary heap 177, ours 183, lanes 301,
// std::priority_queue 304, std::multimap 912, boost's pairing heap 1577; all delays equal, as in a collective of equal
// messages, 4 against 7, 134, 125, 44, 204, 121 and 1218; eight delays 6 against 8, 178, 183, 52, 245, 213 and 1737. At 1e6
// the others fall further behind (43 against 237 and more). It needs no tuning, where a calendar must measure what is
// pending, and hands over whole instants, where lanes must look for the next event among all. As the executor's
// pending events (pending_events.h) it holds waves of like ones, which doubles its hops a second once more.
#pragma once

#include "sim/calendar_queue.h"
#include "sim/heap_queues.h"
#include "sim/lane_queue.h"
#include "sim/radix_queue.h"

namespace podsim::sim {

using BinaryQueue = HeapQueue<BinaryHeap>;
using QuaternaryQueue = HeapQueue<QuaternaryHeap>;
using EventQueue = RadixQueue;

}  // namespace podsim::sim
