// Reports the answer of a search as text, and as JSON (search_json.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/search/near_misses.h"
#include "scenarios/src/search/search.h"
#include "scenarios/src/search/sensitivity.h"
#include "scenarios/src/simulate/step_result.h"

namespace podsim::scenarios {

/// The best plan and the one behind it, explained.
struct RunnersUp {
    StepResult best;
    StepResult second;
};

struct SearchAnswer {
    std::string name;  ///< name of the scenario
    SearchResult result;
    Sensitivity sensitivity;
    std::optional<RunnersUp> runners_up{};  ///< if there are two plans
    std::vector<NearMiss> misses{};         ///< if nothing fits
    std::vector<std::string> warnings{};    ///< of the best plan's chip (profile_warnings)
};

/// Returns what kept all plans out, if none was found.
std::vector<std::string> why_none(const SearchResult& result);

std::string search_text(const SearchSpace& space, const SearchAnswer& answer);
Json search_json(const SearchSpace& space, const SearchAnswer& answer);

}  // namespace podsim::scenarios
