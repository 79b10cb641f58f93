// The player over the queues that the default is compared with.
#include "sim/executor/player_whole.h"
#include "sim/queue/event_queue.h"
#include "sim/state/event_per_hop.h"

namespace podsim::sim {

template ExecutionResult play<EventPerHop<LaneQueue>>(const Workload&, Observer*, bool);
template ExecutionResult play<EventPerHop<CalendarQueue>>(const Workload&, Observer*, bool);
template ExecutionResult play<EventPerHop<QuaternaryQueue>>(const Workload&, Observer*, bool);
template ExecutionResult play<EventPerHop<BinaryQueue>>(const Workload&, Observer*, bool);

}  // namespace podsim::sim
