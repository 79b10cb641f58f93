// What a run takes of memory in podsim itself, before it begins.
//
// Counted from the workload that the run is given, by bytes that were measured (docs/performance.md): an upper estimate, of what takes more
// than 35 MB at most 2.7 times as much. What explains a run comes on top of it.
#pragma once

#include <cstdint>

#include "scenarios/spec/request.h"
#include "sim/base/error.h"
#include "sim/workload/task_graph.h"

namespace podsim::scenarios {

/// Of a process that has read a scenario.
inline constexpr double kBytesOfProcess = 28e6;
/// Of an operation of a step's programs, from being built to the end of the run: it, its task and its times, in arrays that are there
/// twice while they grow.
inline constexpr double kBytesOfOperation = 1600;

struct RunMemory {
    double operations = 0;  ///< bytes of the programs' operations
    double messages = 0;    ///< of schedules, as they are built and as the executor reads them
    double places = 0;      ///< of what every place has: tasks, links, messages under way

    [[nodiscard]] double bytes() const { return kBytesOfProcess + operations + messages + places; }
};
RunMemory memory_of_run(const sim::Workload& workload);

/// Bytes of a schedule, as `messages` counts them.
double memory_of_schedule(const sim::Schedule& schedule);

/// Bytes of the record of a run that played so many events (run/run_record.h).
double memory_of_record(std::uint64_t played_events);

/// That a run takes more than this process may, which another machine, or another --memory, may allow.
class BeyondMemory : public sim::InputError {
public:
    BeyondMemory(const sim::InputError& error, double bytes) : InputError(error), bytes_(bytes) {}

    /// What it takes.
    [[nodiscard]] double bytes() const { return bytes_; }

private:
    double bytes_;
};

/// Throws BeyondMemory where the process may not take so much (memory_limit), with what would make it fit.
void refuse_beyond_memory(const RunMemory& memory, Fold fold);

}  // namespace podsim::scenarios
