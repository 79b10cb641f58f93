#include "scenarios/src/search/sensitivity.h"

#include <algorithm>

#include "scenarios/src/scenario/error_band.h"
#include "scenarios/src/simulate/machine_changes.h"
#include "scenarios/src/simulate/try_changes.h"

namespace podsim::scenarios {
namespace {

/// Returns the plans near the best, and behind them the others of the ten best: under other rates
/// one of these may be the best.
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
    const std::vector<MachineChange> changes = within_band(scenarios.front().hardware, found.band);
    for (const MachineChange& change : changes) {
        found.rates.push_back({change.name, {}});
    }
    const std::vector<Trial> trials =
        try_changes(changes.size() * plans.size(),
                    [&](std::size_t i) {
                        Scenario scenario = scenarios[i % plans.size()];
                        changes[i / plans.size()].apply(scenario.hardware);
                        return scenario;
                    },
                    {.jobs = jobs, .watch = watch});
    for (std::size_t i = 0; i < trials.size(); ++i) {
        found.rates[i / plans.size()].step_times.push_back(trials[i].step->step_time);
    }
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
