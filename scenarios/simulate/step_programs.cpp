#include "scenarios/simulate/step_programs.h"

#include "scenarios/lower/operation_times.h"
#include "scenarios/simulate/step_size.h"
#include "scenarios/spec/training_step.h"
#include "sim/base/error.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {

BuiltStep build_step_of(const Scenario& scenario, const IdealHardware* compiled_for, Watch* watch) {
    refuse_beyond_memory(scenario);
    const TrainingStep& step = scenario.step();
    const topology::ChipSpec& chip = scenario.hardware.chip;
    BuiltStep built{.plan = step.plan, .programs = {}};
    built.programs = workloads::build_stages_that_fit(step.model, built.plan, chip.usable_hbm(),
                                                      [&] { tell(watch, Phase::building); });
    if (built.plan.overlap.schedule == workloads::SchedulePolicy::chain) {
        return built;
    }
    const AchievedHardware compiled(compiled_for != nullptr ? *compiled_for : scenario.hardware);
    try {
        built.programs = workloads::hide_latency(
            built.programs, built.plan.overlap,
            operation_times(built.programs, compiled, step.mesh), chip.hbm_capacity.value);
    } catch (const sim::InputError& error) {
        throw error.at({scenario.file, 0, 0});
    }
    return built;
}

}  // namespace podsim::scenarios
