// What a search found, for people, and as JSON (search_json.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/search/search.h"
#include "scenarios/search/sensitivity.h"
#include "scenarios/search_report/near_misses.h"
#include "scenarios/simulate/step_result.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// The best plan and the one behind it, explained.
struct RunnersUp {
    StepResult best;
    StepResult second;
};

struct SearchAnswer {
    std::string name;  ///< of the scenario
    SearchResult result;
    Sensitivity sensitivity;
    std::optional<RunnersUp> runners_up{};  ///< where there are two
    std::vector<NearMiss> misses{};         ///< where nothing fits
    std::vector<std::string> warnings{};    ///< of the best plan's chip (profile_warnings)
};

/// What kept all plans out, where none was found.
std::vector<std::string> why_none(const SearchResult& result);

std::string search_text(const SearchSpace& space, const SearchAnswer& answer);
Json search_json(const SearchSpace& space, const SearchAnswer& answer);

}  // namespace podsim::scenarios
