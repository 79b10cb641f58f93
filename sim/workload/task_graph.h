// What the places do: tasks in program order, each after others of the same place.
//
// A work task holds one of the place's serial resources for its duration; a serial resource runs its
// tasks one at a time in program order. An operation task takes part in an operation and ends when
// the operation has ended at its place. A task may only depend on earlier ones.
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
    Time duration;                           ///< of work; the launch cost of an operation
    std::uint32_t operation = kNoOperation;  ///< kNoOperation: work
    std::uint32_t resource = 0;              ///< of work: which serial resource
    std::int64_t demand =
        0;  ///< of work: bytes a second that it reads and writes of the place's memory
    std::vector<std::uint32_t> after;
};

struct TaskGraph {
    std::vector<Task> tasks{};
    /// Tasks at which the state may repeat, ascending: one of each layer.
    std::vector<std::uint32_t> marks{};
    /// The same a picosecond before their end, as it is foreseen when they begin: before what waits for it begins.
    std::vector<std::uint32_t> early_marks{};
};

inline constexpr std::uint32_t kOwnPlacement = 0xffffffff;

/// One use of a schedule. Lower classes go first at every link; within a class those that are needed sooner, among equals earlier
/// operations, and within an operation earlier phases.
struct OperationSpec {
    std::uint32_t schedule = 0;
    std::uint32_t priority_class = 0;
    std::uint32_t needed_by = 0;  ///< lower is sooner
    /// Which places take part in which roles: an index of Workload::placements; kOwnPlacement: as the
    /// schedule says. So a few places can use the schedule of all, and a pair that of any other pair.
    std::uint32_t placement = kOwnPlacement;
};

class KnownTables;

/// Everything the executor needs. Operations are numbered in program order: that is the last tie-break.
struct Workload {
    Machine machine;
    Schedules schedules;
    /// [placement][place]: a role of the schedules used with it, or kAbsent. A role that needs counters (has
    /// transfers with several predecessors) may not have more places than in the schedule's own.
    std::vector<std::vector<std::uint32_t>> placements{};
    std::vector<OperationSpec> operations;
    std::vector<TaskGraph> graphs;
    std::vector<std::uint32_t> graph_of_place;
    /// What runs of these and of other workloads read schedules as (tables/known_tables.h); nullptr: each makes its own.
    std::shared_ptr<KnownTables> tables{};
};

/// [task]: the first work that waits for it, through operations or by itself; the number of tasks: none does. Work that only follows on
/// a serial resource does not count.
std::vector<std::uint32_t> first_needed(const TaskGraph& graph);

/// [graph]: the operations that are in tasks of that graph alone, in the order of its tasks.
std::vector<std::vector<std::uint32_t>> own_operations(const Workload& workload);

}  // namespace podsim::sim
