#include "scenarios/src/search/plan_facts.h"

#include <algorithm>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/rates.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {
namespace {

constexpr double kSecondsOfHour = 3600;

/// The attention FLOPs of inference depend on whether the mesh splits the cache.
double executed_flops(const TrainingStep& step) {
    const auto executed = [&](int cache) {
        workloads::TrainingPlan plan = step.plan;
        plan.ways.cache = cache;
        return workloads::step_flops(step.model, plan, sim::Flops(0)).model.value();
    };
    return std::min(executed(1), executed(2));
}

}  // namespace

PlanFacts facts_of(const Scenario& scenario, std::uint32_t setting) {
    const TrainingStep& step = scenario.step();
    const Hardware& hardware = scenario.hardware;
    const workloads::MachineRates rates = ideal_rates(scenario.hardware);
    PlanFacts facts;
    facts.setting = setting;
    facts.capacity = hardware.chip.usable_hbm().value();
    facts.chips = hardware.chips();
    facts.tokens =
        step.plan.inference ? step.plan.inference->counted_tokens() : step.plan.batch.tokens;
    facts.flops = workloads::step_flops(step.model, step.plan, sim::Flops(0), step.report.flop_rule)
                      .model.value();
    facts.executed_flops = executed_flops(step);
    facts.peak_flops =
        std::max(rates.peak(step.plan.precision.matmul), rates.flops).value() * facts.chips;
    if (step.report.usd_per_chip_hour) {
        facts.usd_per_second = *step.report.usd_per_chip_hour * facts.chips / kSecondsOfHour;
    }
    facts.run_tokens = step.report.tokens;
    return facts;
}

sim::Time least_time(const PlanFacts& facts) {
    // A picosecond is subtracted after rounding down: the sum of a step's durations may round
    // otherwise than this quotient.
    const sim::Time least = sim::round_down(sim::Seconds(facts.executed_flops / facts.peak_flops));
    return {std::max<std::int64_t>(least.ps - 1, 0)};
}

std::uint64_t place_of(const PlanFacts& facts, const Candidate& candidate) {
    constexpr unsigned kBitsOfMesh = 32;
    return std::uint64_t{facts.setting} << kBitsOfMesh | candidate.mesh;
}

bool is_wanted(const SearchSpec& spec, const PlanFacts& facts, sim::Time time) {
    if (spec.asked.deadline_s && time.seconds() > *spec.asked.deadline_s) {
        return false;
    }
    return !spec.asked.budget_usd || facts.run_usd(time) <= *spec.asked.budget_usd;
}

}  // namespace podsim::scenarios
