#include "scenarios/lower/retime.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "scenarios/lower/rates.h"
#include "workloads/program/alike_work.h"

namespace podsim::scenarios {

bool retime(const workloads::StepPrograms& programs, const AchievedHardware& hardware,
            LoweredStep& step) {
    const Durations durations(hardware);
    const std::int64_t memory = memory_rate(hardware);
    bool changed = std::exchange(step.workload.machine.memory_rate, memory) != memory;
    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        const std::vector<workloads::Op>& ops = programs.programs[p].ops;
        workloads::OfAlike<Durations::Timed> timed(programs.programs[p]);
        for (workloads::OpIndex i = 0; i < ops.size(); ++i) {
            sim::Task& task = step.workload.graphs[p].tasks[i];
            const auto& [duration, demand] = timed.of(i, [&] { return durations.timed(ops[i]); });
            changed = changed || task.duration != duration || task.demand != demand;
            task.duration = duration;
            task.demand = demand;
        }
    }
    return changed;
}

}  // namespace podsim::scenarios
