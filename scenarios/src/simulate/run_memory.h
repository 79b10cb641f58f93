// The memory that podsim itself needs for a run, before the run begins.
//
// It is counted from the run's workload, with measured bytes per item (docs/performance.md). It is
// an upper estimate: for runs above 35 MB at most 2.7 times the actual memory. The memory to
// explain a run is extra.
#pragma once

#include <cstdint>

#include "scenarios/src/scenario/request.h"
#include "sim/base/error.h"
#include "sim/workload/task_graph.h"

namespace podsim::scenarios {

/// Memory of a process that has read a scenario.
inline constexpr double kBytesOfProcess = 28e6;
/// Memory of an operation of a step's programs, from its construction to the end of the run: the
/// operation, its task and its times, in arrays that exist twice while they grow.
inline constexpr double kBytesOfOperation = 1600;

struct RunMemory {
    double operations = 0;  ///< bytes of the programs' operations
    double messages = 0;    ///< bytes of schedules, as built and as the executor reads them
    double places = 0;      ///< bytes of every place: tasks, links, messages under way

    [[nodiscard]] double bytes() const { return kBytesOfProcess + operations + messages + places; }
};
RunMemory memory_of_run(const sim::Workload& workload);

/// Bytes of a schedule, as `messages` counts them.
double memory_of_schedule(const sim::Schedule& schedule);

/// Bytes of the record of a run with this many played events (simulate/run_record.h).
double memory_of_record(std::uint64_t played_events);

/// The run needs more memory than this process may use; another machine, or another --memory, may
/// allow it.
class BeyondMemory : public sim::InputError {
public:
    BeyondMemory(const sim::InputError& error, double bytes) : InputError(error), bytes_(bytes) {}

    /// Memory of the run.
    [[nodiscard]] double bytes() const { return bytes_; }

private:
    double bytes_;
};

/// Throws BeyondMemory, with a remedy, if the process may not use that much (memory_limit).
void refuse_beyond_memory(const RunMemory& memory, Fold fold);

}  // namespace podsim::scenarios
