// Who goes first at a link: quadruples (class, needed by, operation, phase) as numbers in their order.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/tables/transfer_table.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// Comparing them is comparing their numbers; the lower goes first.
struct Priorities {
    /// `tables`: of the schedules. Throws std::logic_error where a message that waits has no room for the numbers.
    Priorities(const std::vector<OperationSpec>& operations,
               const std::vector<TransferTable>& tables);

    std::vector<std::uint32_t> first;         ///< [operation]: the number of its first phase's
    std::vector<std::uint32_t> operation_of;  ///< [number]
};

}  // namespace podsim::sim
