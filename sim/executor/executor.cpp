#include "sim/executor/executor.h"

#include "sim/executor/player.h"
#include "sim/executor/player_links.h"
#include "sim/executor/player_messages.h"
#include "sim/executor/player_tasks.h"
#include "sim/queue/event_queue.h"
#include "sim/state/pending_events.h"

namespace podsim::sim {

ExecutionResult execute(const Workload& workload, Observer* observer, bool reuse, QueueKind queue) {
    switch (queue) {
        case QueueKind::waves:
            break;
        case QueueKind::radix:
            return Player<EventPerHop<RadixQueue>>(workload, observer, reuse).run();
        case QueueKind::lanes:
            return Player<EventPerHop<LaneQueue>>(workload, observer, reuse).run();
        case QueueKind::calendar:
            return Player<EventPerHop<CalendarQueue>>(workload, observer, reuse).run();
        case QueueKind::quaternary_heap:
            return Player<EventPerHop<QuaternaryQueue>>(workload, observer, reuse).run();
        case QueueKind::binary_heap:
            return Player<EventPerHop<BinaryQueue>>(workload, observer, reuse).run();
    }
    constexpr std::size_t kManyPlaces = 512;
    if (reuse && workload.graphs.size() > 1 && workload.machine.places <= kManyPlaces) {
        // Skipping for one graph alone takes its events out of waves that others share; on more places waves
        // are worth more.
        return Player<EventPerHop<RadixQueue>>(workload, observer, reuse).run();
    }
    return Player<Waves<RadixQueue>>(workload, observer, reuse).run();
}

}  // namespace podsim::sim
