// How a run is asked to keep its pending events. The result is the same with each.
#pragma once

namespace podsim::sim {

/// Like ones together in a radix heap (waves), or one for each hop in one of the queues of event_queue.h.
enum class QueueKind { waves, radix, lanes, calendar, quaternary_heap, binary_heap };

}  // namespace podsim::sim
