#include "scenarios/calibrate/simulated_times.h"

#include <algorithm>
#include <chrono>

#include "scenarios/ranks/parallel.h"
#include "scenarios/serve_report/serving_quantities.h"
#include "scenarios/served/simulated_step_times.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/quantity_names.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/study/serve_scenario.h"

namespace podsim::scenarios {

namespace {

/// Of what a serving run is held to: seconds, or those of a token.
double served_time(const Scenario& scenario, StepTimes& steps) {
    const std::string& quantity = scenario.expectations.front().quantity;
    const double value = value_of(quantity, serve_scenario(scenario, steps).summary);
    return find_quantity(quantity).unit == ValueUnit::token_rate ? 1 / value : value;
}

Scenario with_factors(const Scenario& scenario, const topology::Efficiency& efficiency) {
    Scenario result = scenario;
    result.hardware.efficiency = efficiency;
    if (scenario.serving != nullptr) {
        auto serving = std::make_shared<ServingSpec>(*scenario.serving);
        serving->host = sim::round_up(sim::Seconds(efficiency.host_s));
        result.serving = std::move(serving);
    }
    return result;
}

}  // namespace

double simulated_reference(const Scenario& scenario, Watch* watch) {
    if (scenario.serving != nullptr) {
        SimulatedStepTimes steps(scenario);
        return served_time(scenario, steps);
    }
    if (scenario.is_program()) {
        return simulate_program(scenario.hardware, scenario.program(), Fold::automatic, watch)
            .time.seconds();
    }
    const StepResult result =
        simulate_step(scenario, Fold::automatic, {.reuse = true, .explain = false, .watch = watch});
    return (scenario.step().evaluation.has_value() ? result.block : result.step_time).seconds();
}

/// The steps of a server with those factors but for the host's time, which is not theirs: simulated once for all host times.
class SimulatedTimes::Steps {
public:
    explicit Steps(const Scenario& scenario) : simulated_(scenario), remembered_(simulated_) {}

    double served(const Scenario& scenario) {
        const std::lock_guard lock(mutex_);
        return served_time(scenario, remembered_);
    }

private:
    std::mutex mutex_;
    SimulatedStepTimes simulated_;
    MemoisedStepTimes remembered_;
};

SimulatedTimes::SimulatedTimes(int jobs, Watch* watch) : jobs_(jobs), watch_(watch) {}
SimulatedTimes::~SimulatedTimes() = default;

SimulatedTimes::Steps& SimulatedTimes::steps_of(const FitTrial& trial, const Scenario& scenario) {
    topology::Efficiency without_host = trial.efficiency;
    without_host.host_s = 0;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Steps>& steps = steps_[key_of({trial.measurement, without_host})];
    if (steps == nullptr) {
        steps = std::make_unique<Steps>(scenario);
    }
    return *steps;
}

SimulatedTimes::Key SimulatedTimes::key_of(const FitTrial& trial) {
    Key key{trial.measurement->number, {}};
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        key.second.push_back(trial.efficiency.*(factor.value));
    }
    return key;
}

std::vector<double> SimulatedTimes::of(std::span<const FitTrial> trials) {
    using Clock = std::chrono::steady_clock;
    std::vector<Key> keys;
    std::vector<std::size_t> missing;
    for (const FitTrial& trial : trials) {
        Key key = key_of(trial);
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
            const FitTrial& trial = trials[missing[i]];
            const Scenario scenario = with_factors(*trial.measurement->scenario, trial.efficiency);
            const Clock::time_point begin = Clock::now();
            const double time = scenario.serving != nullptr
                                    ? steps_of(trial, scenario).served(scenario)
                                    : simulated_reference(scenario, watch_);
            return Run{time, std::chrono::duration<double>(Clock::now() - begin).count()};
        },
        [&](std::size_t i, const Run& run) {
            times_.emplace(keys[missing[i]], run.time);
            double& effort = effort_[trials[missing[i]].measurement->number];
            effort = std::max(effort, run.effort);
        },
        [] { return false; });
    std::vector<double> times;
    times.reserve(keys.size());
    for (const Key& key : keys) {
        times.push_back(times_.at(key));
    }
    return times;
}

}  // namespace podsim::scenarios
