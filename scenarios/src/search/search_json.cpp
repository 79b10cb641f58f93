// Writes the answer of a search as JSON.
#include <cmath>
#include <utility>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/search/plan_figures.h"
#include "scenarios/src/search/search_report.h"

namespace podsim::scenarios {
namespace {

Json plan_json(const SearchSpace& space, const FoundPlan& plan) {
    Json json{{"set", space.set(plan.facts, plan.candidate)},
              {"step_time_s", decimal_seconds(plan.step_time)},
              {"search_bound_s", decimal_seconds(plan.candidate.bound)},
              {"mfu", plan.mfu()},
              {"tokens_per_s", plan.tokens_per_s()},
              {"tokens", plan.facts.tokens},
              {"peak_bytes", plan.peak},
              {"capacity_bytes", plan.facts.capacity},
              {"tight", plan.tight()},
              {"chips", plan.facts.chips}};
    if (plan.facts.usd_per_second) {
        json["step_usd"] = *plan.facts.usd_per_second * plan.step_time.seconds();
        json["usd_per_million_tokens"] = *usd_per_million_tokens(plan);
    }
    return json;
}

Json plans_json(const SearchSpace& space, const std::vector<FoundPlan>& plans) {
    Json list = Json::array();
    for (const FoundPlan& plan : plans) {
        list.push_back(plan_json(space, plan));
    }
    return list;
}

/// Writes the scenario's own plan.
Json own_json(const SearchSpace& space, const ThisPlan& own) {
    if (!own.refused.empty()) {
        return {{"refused", own.refused}};
    }
    Json json = plan_json(space, own.plan);
    json.erase("search_bound_s");  // candidates alone have it
    if (!own.in_space) {
        json["set"] = Json::array();
    }
    json["fits"] = own.fits;
    json["in_space"] = own.in_space;
    if (own.number) {
        json["place"] = *own.number;
    }
    return json;
}

Json path_json(const StepResult& result) {
    Json json = Json::object();
    for (const Share& share : result.critical_path) {
        json[share.name] = decimal_seconds(share.time);
    }
    return json;
}

}  // namespace

Json search_json(const SearchSpace& space, const SearchAnswer& answer) {
    const SearchResult& result = answer.result;
    Json json{{"schema", kSchemaName},
              {"kind", "search"},
              {"scenario", answer.name},
              {"warnings", answer.warnings},
              {"objective", to_string(space.spec().asked.objective)},
              {"complete", result.complete},
              {"counts",
               {{"enumerated", result.enumerated},
                {"refused", result.refused_in_all()},
                {"unfit", result.unfit},
                {"pruned", result.pruned},
                {"pruned_while_simulated", result.pruned_while_simulated},
                {"left_to_others", result.left_to_others},
                {"not_looked_at", result.not_looked_at},
                {"likely_not_looked_at", result.likely_not_looked_at},
                {"not_outlined", result.not_outlined},
                {"not_bounded", result.not_bounded},
                {"not_listed", result.not_listed},
                {"simulated", result.simulated}}},
              {"refused", result.refused},
              {"bound_over_simulated", result.tightness},
              {"best", plans_json(space, result.best)},
              {"pareto", plans_json(space, result.front)}};
    if (result.own) {
        json["this_plan"] = own_json(space, *result.own);
    }
    if (result.best.empty()) {
        json["why_none"] = why_none(result);
    }
    if (!answer.misses.empty()) {
        json["nearest_misses"] = near_misses_json(space, answer.misses);
    }
    if (!result.complete && std::isfinite(result.gap)) {
        json["gap_fraction"] = 1 - 1 / (1 + result.gap);
    }
    const bool known = !result.best.empty() && error_is_known(space, result.best.front());
    for (std::size_t i = 0; known && i < result.best.size(); ++i) {
        json["best"][i]["within_ratio_error"] =
            lies_within_error(space, result.best[i], result.best.front());
    }
    Json near = plans_json(space, result.near);
    for (std::size_t i = 0; i < near.size(); ++i) {
        near[i]["stays"] = i < answer.sensitivity.stays.size() && answer.sensitivity.stays[i];
        Json times = Json::object();
        for (const ChangedRate& rate : answer.sensitivity.rates) {
            times[rate.name] = decimal_seconds(rate.step_times[i]);
        }
        near[i]["step_time_under_s"] = std::move(times);
    }
    json["near"] = std::move(near);
    if (answer.runners_up) {
        json["critical_path_s"] = {{"best", path_json(answer.runners_up->best)},
                                   {"second", path_json(answer.runners_up->second)}};
    }
    return json;
}

}  // namespace podsim::scenarios
