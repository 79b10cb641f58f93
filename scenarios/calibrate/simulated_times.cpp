#include "scenarios/calibrate/simulated_times.h"

#include <algorithm>
#include <chrono>

#include "scenarios/serve_report/serving_quantities.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/quantity_names.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/study/parallel.h"
#include "scenarios/study/serve_scenario.h"

namespace podsim::scenarios {

double simulated_reference(const Scenario& scenario, Watch* watch) {
    if (scenario.serving != nullptr) {
        const std::string& quantity = scenario.expectations.front().quantity;
        const double value = value_of(quantity, serve_scenario(scenario).summary);
        return find_quantity(quantity).unit == ValueUnit::token_rate ? 1 / value : value;
    }
    if (scenario.is_program()) {
        return simulate_program(scenario.hardware, scenario.program(), Fold::automatic, watch)
            .time.seconds();
    }
    const StepResult result =
        simulate_step(scenario, Fold::automatic, {.reuse = true, .explain = false, .watch = watch});
    return (scenario.step().evaluation.has_value() ? result.block : result.step_time).seconds();
}

std::vector<double> SimulatedTimes::of(std::span<const Trial> trials) {
    using Clock = std::chrono::steady_clock;
    std::vector<Key> keys;
    std::vector<std::size_t> missing;
    for (const Trial& trial : trials) {
        Key key{trial.measurement->number, {}};
        for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
            key.second.push_back(trial.efficiency.*(factor.value));
        }
        if (!times_.contains(key) && std::ranges::find(keys, key) == keys.end()) {
            missing.push_back(keys.size());
        }
        keys.push_back(std::move(key));
    }
    std::ranges::stable_sort(missing, std::greater{}, [&](std::size_t i) {
        const auto known = effort_.find(trials[i].measurement->number);
        return known == effort_.end() ? 0 : known->second;
    });
    struct Run {
        double time = 0;
        double effort = 0;
    };
    run_in_order(
        0, missing.size(), jobs_,
        [&](std::size_t i) {
            const Trial& trial = trials[missing[i]];
            Scenario scenario = *trial.measurement->scenario;
            scenario.hardware.efficiency = trial.efficiency;
            if (scenario.serving != nullptr) {
                auto serving = std::make_shared<ServingSpec>(*scenario.serving);
                serving->host = sim::round_up(sim::Seconds(trial.efficiency.host_s));
                scenario.serving = std::move(serving);
            }
            const Clock::time_point begin = Clock::now();
            const double time = simulated_reference(scenario, watch_);
            return Run{time, std::chrono::duration<double>(Clock::now() - begin).count()};
        },
        [&](std::size_t i, const Run& run) {
            times_.emplace(keys[missing[i]], run.time);
            double& effort = effort_[trials[missing[i]].measurement->number];
            effort = std::max(effort, run.effort);
        },
        [] { return false; });
    std::vector<double> times;
    for (const Key& key : keys) {
        times.push_back(times_.at(key));
    }
    return times;
}

}  // namespace podsim::scenarios
