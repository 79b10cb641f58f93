#include "sim/state/priorities.h"

#include <cstddef>
#include <map>
#include <stdexcept>
#include <utility>

#include "sim/state/link_servers.h"

namespace podsim::sim {

Priorities::Priorities(const std::vector<OperationSpec>& operations,
                       const std::vector<TransferTable>& tables)
    : first(operations.size()) {
    // By class, and in their order within each.
    std::map<std::uint32_t, std::size_t> next;
    for (const OperationSpec& operation : operations) {
        next[operation.priority_class] += tables[operation.schedule].phases;
    }
    std::size_t all = 0;
    for (auto& [priority_class, numbers] : next) {
        all += std::exchange(numbers, all);
    }
    operation_of.resize(all);
    for (std::uint32_t operation = 0; operation < operations.size(); ++operation) {
        const OperationSpec& spec = operations[operation];
        std::size_t& number = next[spec.priority_class];
        first[operation] = static_cast<std::uint32_t>(number);
        for (const std::size_t end = number + tables[spec.schedule].phases; number < end;) {
            operation_of[number++] = operation;
        }
    }
    if (operation_of.size() >> (64 - Waiting::kInstantBits) != 0) {
        throw std::logic_error("too many operations and phases for one run");
    }
}

}  // namespace podsim::sim
