// The tasks of the places, in program order; each follows others of the same place.
//
// A work task holds one of the place's serial resources for its duration; a serial resource runs
// its tasks one at a time in program order. An operation task participates in an operation and ends
// when the operation has ended at its place. A task may only depend on earlier ones.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/time.h"
#include "sim/workload/machine.h"
#include "sim/workload/schedule_list.h"

namespace podsim::sim {

inline constexpr std::uint32_t kNoOperation = 0xffffffff;

struct Task {
    /// Duration of work, or launch cost of an operation.
    Time duration;
    std::uint32_t operation = kNoOperation;  ///< kNoOperation: work
    /// Serial resource of work.
    std::uint32_t resource = 0;
    /// Bytes per second that work reads and writes in the place's memory.
    std::int64_t demand = 0;
    std::vector<std::uint32_t> after;
};

struct TaskGraph {
    std::vector<Task> tasks{};
    /// Tasks at which the state may repeat, ascending: one in each layer.
    std::vector<std::uint32_t> marks{};
    /// Like `marks`, but a picosecond before the task's foreseen end: before its dependents begin.
    std::vector<std::uint32_t> early_marks{};
};

inline constexpr std::uint32_t kOwnPlacement = 0xffffffff;

/// One use of a schedule. Lower classes go first at every link. Within a class the order is by
/// `needed_by`, then by operation, and within an operation by phase.
struct OperationSpec {
    std::uint32_t schedule = 0;
    std::uint32_t priority_class = 0;
    std::uint32_t needed_by = 0;  ///< lower is sooner
    /// An index of Workload::placements, which maps places to roles; kOwnPlacement: as in the
    /// schedule. So a few places can use the schedule of all, and a pair that of any other pair.
    std::uint32_t placement = kOwnPlacement;
};

class KnownTables;

/// Everything that the executor needs. Operations are numbered in program order, the last
/// tie-break.
struct Workload {
    Machine machine;
    Schedules schedules;
    /// [placement][place]: a role of the schedules used with it, or kAbsent. A role that needs
    /// counters (has transfers with several predecessors) may not have more places than in the
    /// schedule's own.
    std::vector<std::vector<std::uint32_t>> placements{};
    std::vector<OperationSpec> operations;
    std::vector<TaskGraph> graphs;
    std::vector<std::uint32_t> graph_of_place;
    /// Tables that runs of this and other workloads derive from schedules
    /// (sim/state/known_tables.h); nullptr: each run makes its own.
    std::shared_ptr<KnownTables> tables{};
};

/// [task]: the first work that waits for it, directly or through operations; the number of tasks if
/// none does. Work that only follows on a serial resource does not count.
std::vector<std::uint32_t> first_needed(const TaskGraph& graph);

/// [graph]: the operations in tasks of that graph alone, in the order of its tasks.
std::vector<std::vector<std::uint32_t>> own_operations(const Workload& workload);

}  // namespace podsim::sim
