// A serving run with its grid of step times, and what there is to say of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/serve/interpolated_step_times.h"
#include "scenarios/serve/serving_loop.h"
#include "scenarios/serve_report/balance.h"
#include "scenarios/serve_report/summary.h"

namespace podsim::scenarios {

struct ServingRun {
    std::string name;
    std::int64_t chips = 1;  ///< of all servers together
    std::optional<double> usd_per_chip_hour{};
    std::vector<std::string> warnings{};  ///< of its chips (profile_warnings)
    ServingSpec spec;
    ServingResult result;
    ServingSummary summary;
    Balance balance;
    /// Of the grids: of the steps, and of disaggregated prefill where that has step times of its own. None with
    /// `grid: exact`.
    std::optional<GridError> step_grid;
    std::optional<GridError> prefill_grid;
    std::size_t buckets =
        0;  ///< that exact sources were asked for during the run, those of drafts included
};

/// The price of all chips for as long as a million output tokens take; none without a price, or without tokens.
std::optional<double> usd_per_million_output_tokens(const ServingRun& run);

/// Serves with the spec's grid over exact step times: each source is asked for a bucket once, or (`grid: exact`) for every
/// shape once. Throws as serve() does. Without `measure` the grids' errors are left open.
ServingRun run_serving(std::string name, std::int64_t chips, const ServingSpec& spec,
                       const ServingTimes& exact, bool measure = true, Watch* watch = nullptr);

}  // namespace podsim::scenarios
