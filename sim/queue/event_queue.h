// The pending events, in one total order: by time, and within one time in the order in which they were pushed.
//
// Five implementations, proven equal by the sequences that they pop (tests/sim/queue/event_queue_test.cpp), with one
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
// in one run): exponential delays 24, calendar 79, our 4-ary heap 98, boost's 104, std::priority_queue 149, lanes 183,
// std::multimap 461, boost's pairing heap 1000; all delays equal, as in a collective of equal messages, 11 against 7,
// 94, 103, 116, 40, 108 and 745; eight delays 12 against 7, 122, 121, 139, 49, 194 and 1085. At 1e6 the others but the
// calendar fall further behind (exponential 39 against 140 and more). It needs no tuning, where a calendar must measure
// what is pending, and hands over whole instants, where lanes must look for the next event among all. As the executor's
// pending events (pending_events.h) it holds waves of like ones, which more than doubles its hops a second.
#pragma once

#include "sim/queue/calendar_queue.h"
#include "sim/queue/heap_queues.h"
#include "sim/queue/lane_queue.h"
#include "sim/queue/radix_queue.h"

namespace podsim::sim {

using BinaryQueue = HeapQueue<BinaryHeap>;
using QuaternaryQueue = HeapQueue<QuaternaryHeap>;
using EventQueue = RadixQueue;

}  // namespace podsim::sim
