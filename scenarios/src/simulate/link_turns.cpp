#include "scenarios/src/simulate/link_turns.h"

#include <algorithm>
#include <cstddef>

namespace podsim::scenarios {

using workloads::Purpose;

std::uint32_t priority_class(const workloads::StepProgram& program, Purpose purpose) {
    const workloads::LinkPlaces& places = program.priority;
    switch (purpose) {
        case Purpose::tensor:
        case Purpose::context:
        case Purpose::expert:
        case Purpose::pipeline:
            return places[0];
        case Purpose::weights:
            return places[1];
        case Purpose::gradients:
            return places[2];
    }
    return 2;
}

void order_by_need(const std::vector<workloads::StepProgram>& programs, sim::Workload& workload) {
    constexpr std::uint32_t kNever = 0xffffffff;
    std::vector<std::uint32_t> soonest(workload.operations.size(), kNever);
    for (std::size_t p = 0; p < programs.size(); ++p) {
        if (programs[p].priority != workloads::kByNeed) {
            continue;
        }
        const std::vector<sim::Task>& tasks = workload.graphs[p].tasks;
        const std::vector<std::uint32_t> needed = sim::first_needed(workload.graphs[p]);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            const std::uint32_t operation = tasks[i].operation;
            if (operation != sim::kNoOperation &&
                workload.operations[operation].priority_class == workloads::kByNeed[1]) {
                soonest[operation] = std::min(soonest[operation], needed[i]);
                workload.operations[operation].needed_by = soonest[operation];
            }
        }
    }
}

}  // namespace podsim::scenarios
