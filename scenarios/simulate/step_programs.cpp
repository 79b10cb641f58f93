#include "scenarios/simulate/step_programs.h"

#include <utility>

#include "scenarios/explain/memory.h"
#include "scenarios/simulate/operation_times.h"
#include "scenarios/simulate/step_memory.h"
#include "scenarios/simulate/step_size.h"
#include "scenarios/spec/training_step.h"
#include "sim/base/error.h"
#include "workloads/program/alike_work.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {

std::shared_ptr<const BuiltStep> build_step_of(const Scenario& scenario, StepMemory& memory,
                                               const IdealHardware* compiled_for, Watch* watch,
                                               LookAhead look_ahead) {
    refuse_beyond_memory(scenario);
    const TrainingStep& step = scenario.step();
    const sim::Bytes most = look_ahead == LookAhead::asked
                                ? sim::Bytes::infinity()
                                : most_believed(scenario.hardware.chip.usable_hbm());
    std::shared_ptr<const BuiltStep> built = memory.programs(step.model, step.plan, most, [&] {
        BuiltStep one{.plan = step.plan,
                      .programs = {},
                      .asked_prefetch = workloads::longest_prefetch(step.model, step.plan)};
        one.programs = workloads::build_stages_that_fit(step.model, one.plan, most,
                                                        [&] { tell(watch, Phase::building); });
        workloads::find_alike(one.programs);
        return one;
    });
    if (step.plan.overlap.schedule == workloads::SchedulePolicy::chain) {
        return built;
    }
    const AchievedHardware compiled(compiled_for != nullptr ? *compiled_for : scenario.hardware);
    try {
        BuiltStep ordered{
            built->plan,
            workloads::hide_latency(built->programs, built->plan.overlap,
                                    operation_times(built->programs, compiled, step.mesh),
                                    scenario.hardware.chip.hbm_capacity.value),
            built->asked_prefetch};
        workloads::find_alike(ordered.programs);
        return std::make_shared<const BuiltStep>(std::move(ordered));
    } catch (const sim::InputError& error) {
        throw error.at({scenario.file, 0, 0});
    }
}

BuiltStep build_step_of(const Scenario& scenario, const IdealHardware* compiled_for, Watch* watch) {
    StepMemory of_this_step;
    return *build_step_of(scenario, of_this_step, compiled_for, watch);
}

}  // namespace podsim::scenarios
