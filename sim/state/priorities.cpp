#include "sim/state/priorities.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "sim/state/link_servers.h"

namespace podsim::sim {

Priorities::Priorities(const std::vector<OperationSpec>& operations,
                       const std::vector<TransferTable>& tables)
    : first(operations.size()) {
    std::vector<std::uint32_t> order(operations.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto turn = [&](std::uint32_t operation) {
        const OperationSpec& spec = operations[operation];
        return std::tuple(spec.priority_class, spec.needed_by, operation);
    };
    std::ranges::sort(order, {}, turn);
    for (const std::uint32_t operation : order) {
        first[operation] = static_cast<std::uint32_t>(operation_of.size());
        operation_of.insert(operation_of.end(), tables[operations[operation].schedule].phases,
                            operation);
    }
    if (operation_of.size() >> (64 - Waiting::kInstantBits) != 0) {
        throw std::logic_error("too many operations and phases for one run");
    }
}

}  // namespace podsim::sim
