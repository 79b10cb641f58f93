#include "scenarios/search/sensitivity.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <utility>

#include "scenarios/ranks/parallel.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/simulate/step_memory.h"
#include "scenarios/spec/error_band.h"
#include "topology/chips/efficiency.h"

namespace podsim::scenarios {
namespace {

struct Change {
    std::string name;
    std::function<void(IdealHardware&)> apply;
};

Change of_factor(const char* name, double topology::Efficiency::*factor, double times) {
    return {fmt::format("{} {} {:.0f} %", name, times < 1 ? '-' : '+',
                        100 * (times < 1 ? 1 - times : times - 1)),
            [=](IdealHardware& hardware) {
                double& value = hardware.efficiency.*factor;
                value = std::min(1.0, value * times);
            }};
}

Change of_latency(double times) {
    return {fmt::format("latency x {}", times), [=](IdealHardware& hardware) {
                topology::ChipSpec& chip = hardware.chip;
                for (auto* latency : {&chip.ici_latency, &chip.pcie_latency, &chip.dcn_latency}) {
                    latency->value = latency->value * times;
                }
            }};
}

Change of_launch(double times) {
    return {fmt::format("launch x {}", times), [=](IdealHardware& hardware) {
                hardware.efficiency.launch_s *= times;
                hardware.chip.collective_launch.value =
                    hardware.chip.collective_launch.value * times;
            }};
}

std::vector<Change> changes_of(const Hardware& hardware, double band) {
    std::vector<Change> changes;
    using topology::Efficiency;
    for (const double times : {1 - band, 1 + band}) {
        changes.push_back(of_factor("mxu", &Efficiency::mxu, times));
        changes.push_back(of_factor("attention", &Efficiency::attention, times));
        changes.push_back(of_factor("hbm", &Efficiency::hbm, times));
        changes.push_back(of_factor("ici", &Efficiency::ici, times));
        if (hardware.slices > 1) {
            changes.push_back(of_factor("dcn", &Efficiency::dcn, times));
        }
    }
    for (const double times : {0.5, 2.0}) {
        changes.push_back(of_latency(times));
        changes.push_back(of_launch(times));
    }
    return changes;
}

/// The plans near the best, and behind them the others of the ten best: under other rates one of these may be the best.
std::vector<FoundPlan> rivals(const SearchResult& result) {
    std::vector<FoundPlan> plans = result.near;
    for (const FoundPlan& plan : result.best) {
        if (std::ranges::count(result.near, plan.place, &FoundPlan::place) == 0) {
            plans.push_back(plan);
        }
    }
    return plans;
}

}  // namespace

Sensitivity sensitivity(const SearchSpace& space, const SearchResult& result, int jobs,
                        Watch* watch) {
    Sensitivity found;
    const std::vector<FoundPlan> plans = rivals(result);
    found.stays.assign(result.near.size(), true);
    if (plans.size() < 2) {
        return found;
    }
    std::vector<Scenario> scenarios;
    scenarios.reserve(plans.size());
    for (const FoundPlan& plan : plans) {
        scenarios.push_back(space.scenario(plan.facts, plan.candidate));
    }
    const auto band = band_of(scenarios.front());
    found.band = band ? band->share : kUnknownBand;
    const std::vector<Change> changes = changes_of(scenarios.front().hardware, found.band);
    for (const Change& change : changes) {
        found.rates.push_back({change.name, {}});
    }
    PhaseWatch runs(watch, Phase::explaining);
    StepMemory memory;
    run_in_order(
        0, changes.size() * plans.size(), jobs,
        [&](std::size_t i) {
            Scenario scenario = scenarios[i % plans.size()];
            changes[i / plans.size()].apply(scenario.hardware);
            return simulate_step(scenario, Fold::automatic,
                                 {.explain = false, .watch = &runs, .memory = &memory})
                .step_time;
        },
        [&](std::size_t i, sim::Time time) {
            found.rates[i / plans.size()].step_times.push_back(time);
        },
        [] { return false; });
    const SearchObjective objective = space.spec().asked.objective;
    for (const ChangedRate& rate : found.rates) {
        std::vector<Score> scores;
        for (std::size_t i = 0; i < rate.step_times.size(); ++i) {
            scores.push_back(score_of(objective, plans[i].facts, rate.step_times[i], i));
        }
        const Score best = *std::ranges::min_element(scores);
        for (std::size_t i = 0; i < found.stays.size(); ++i) {
            found.stays[i] = found.stays[i] &&
                             times_as_bad(objective, scores[i], best) <= 1 + kNear &&
                             is_wanted(space.spec(), plans[i].facts, rate.step_times[i]);
        }
    }
    return found;
}

}  // namespace podsim::scenarios
