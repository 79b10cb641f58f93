// The player over radix heaps, which runs use.
#include "sim/executor/player_whole.h"
#include "sim/queue/event_queue.h"
#include "sim/state/event_per_hop.h"
#include "sim/state/waves.h"

namespace podsim::sim {

template ExecutionResult play<Waves<RadixQueue>>(const Workload&, Observer*, bool);
template ExecutionResult play<EventPerHop<RadixQueue>>(const Workload&, Observer*, bool);

}  // namespace podsim::sim
