#include "sim/executor/executor.h"

#include "sim/executor/play.h"
#include "sim/queue/event_queue.h"
#include "sim/state/event_per_hop.h"
#include "sim/state/waves.h"

namespace podsim::sim {

ExecutionResult execute(const Workload& workload, Observer* observer, bool reuse, QueueKind queue) {
    switch (queue) {
        case QueueKind::waves:
            break;
        case QueueKind::radix:
            return play<EventPerHop<RadixQueue>>(workload, observer, reuse);
        case QueueKind::lanes:
            return play<EventPerHop<LaneQueue>>(workload, observer, reuse);
        case QueueKind::calendar:
            return play<EventPerHop<CalendarQueue>>(workload, observer, reuse);
        case QueueKind::quaternary_heap:
            return play<EventPerHop<QuaternaryQueue>>(workload, observer, reuse);
        case QueueKind::binary_heap:
            return play<EventPerHop<BinaryQueue>>(workload, observer, reuse);
    }
    constexpr std::size_t kFewPlaces = 48;
    constexpr std::size_t kManyPlaces = 512;
    if (workload.machine.places <= kFewPlaces ||
        (reuse && workload.graphs.size() > 1 && workload.machine.places <= kManyPlaces)) {
        // Waves of few places have few members: folded steps of 4, 8 and 16 take 0.76 to 0.91 of the time without them, of 20 to 40 0.83 to 0.91;
        // of 56 as long.
        // Skipping for one graph alone takes its events out of waves that others share; on more places waves are worth
        // more.
        return play<EventPerHop<RadixQueue>>(workload, observer, reuse);
    }
    return play<Waves<RadixQueue>>(workload, observer, reuse);
}

}  // namespace podsim::sim
