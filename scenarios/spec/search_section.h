// What a scenario asks of a search besides what is to vary: its section `search`.
#pragma once

#include <cstdint>
#include <optional>

namespace podsim::scenarios {

enum class SearchObjective {
    step_time,  ///< the shortest step
    mfu,        ///< the highest MFU
    cost,       ///< the fewest dollars a token, by report.price
    chips,      ///< the fewest chips, of these the shortest step
};

struct SearchSection {
    SearchObjective objective = SearchObjective::step_time;
    double memory_margin = 0;            ///< share of the HBM that is to stay free
    std::optional<double> deadline_s{};  ///< steps that take longer are not wanted
    std::int64_t least_tokens = 0;       ///< of a batch
    std::optional<double> budget_usd{};  ///< for report.tokens
};

}  // namespace podsim::scenarios
