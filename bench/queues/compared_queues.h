// The queues that the kernel's radix heap is compared with, under the interface of
// sim/queue/event_queue.h.
#pragma once

#include "bench/queues/calendar_queue.h"
#include "bench/queues/heap_queues.h"
#include "bench/queues/lane_queue.h"

namespace podsim::bench {

using BinaryQueue = HeapQueue<BinaryHeap>;
using QuaternaryQueue = HeapQueue<QuaternaryHeap>;

}  // namespace podsim::bench
