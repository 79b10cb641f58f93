#include "sim/state/priorities.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "sim/state/link_servers.h"

namespace podsim::sim {

Priorities::Priorities(const std::vector<OperationSpec>& operations,
                       const std::vector<TransferTable>& tables)
    : first(operations.size()) {
    std::vector<std::uint32_t> in_order(operations.size());
    std::iota(in_order.begin(), in_order.end(), 0U);
    std::ranges::stable_sort(in_order, {},
                             [&](std::uint32_t i) { return operations[i].priority_class; });
    for (const std::uint32_t operation : in_order) {
        first[operation] = static_cast<std::uint32_t>(operation_of.size());
        operation_of.resize(operation_of.size() + tables[operations[operation].schedule].phases,
                            operation);
    }
    if (operation_of.size() >> (64 - Waiting::kInstantBits) != 0) {
        throw std::logic_error("too many operations and phases for one run");
    }
}

}  // namespace podsim::sim
