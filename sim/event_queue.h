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
// The default is the radix heap, by measurement (`make bench`, hold model, 1e5 pending, ns for a pop and a push
// on one core of a busy 2-core machine, all in one run): exponential delays 39, 4-ary heap 249,
// std::priority_queue 342, lanes 426; all delays equal, as in a collective of equal messages, 4 against 133, 373
// and 47; eight delays 4 against 320, 991 and 52. It hands over whole instants at once where lanes must look
// for the next event among all lanes. On machines of many places it holds waves of like events (pending_events.h).
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
