#include "scenarios/src/search/plan_figures.h"

#include "scenarios/src/scenario/error_band.h"
#include "scenarios/src/study/ratio_error.h"

namespace podsim::scenarios {

std::optional<double> usd_per_million_tokens(const FoundPlan& plan) {
    constexpr double kMillion = 1e6;
    if (!plan.facts.usd_per_second) {
        return std::nullopt;
    }
    return *plan.facts.usd_per_second / plan.tokens_per_s() * kMillion;
}

double times_as_bad_as(const SearchSpace& space, const FoundPlan& plan, const FoundPlan& other) {
    const SearchObjective objective = space.spec().asked.objective;
    return times_as_bad(objective, score_of(objective, plan.facts, plan.step_time, plan.place),
                        score_of(objective, other.facts, other.step_time, other.place));
}

bool lies_within_error(const SearchSpace& space, const FoundPlan& plan, const FoundPlan& other) {
    return within_ratio_error(times_as_bad_as(space, plan, other), 1);
}

bool error_is_known(const SearchSpace& space, const FoundPlan& plan) {
    const std::optional<StepBand> band = band_of(space.scenario(plan.facts, plan.candidate));
    return band.has_value() && band->like;
}

}  // namespace podsim::scenarios
