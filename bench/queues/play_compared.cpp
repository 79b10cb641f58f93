// The kernel's player over the compared queues.
#include "bench/queues/compared_queues.h"
#include "sim/executor/executor.h"
#include "sim/state/event_per_hop.h"

namespace podsim::sim {

template ExecutionResult play<EventPerHop<bench::LaneQueue>>(const Workload&, Observer*, bool);
template ExecutionResult play<EventPerHop<bench::CalendarQueue>>(const Workload&, Observer*, bool);
template ExecutionResult play<EventPerHop<bench::QuaternaryQueue>>(const Workload&, Observer*,
                                                                   bool);
template ExecutionResult play<EventPerHop<bench::BinaryQueue>>(const Workload&, Observer*, bool);

}  // namespace podsim::sim
