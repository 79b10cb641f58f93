// What `podsim collective` computes: one collective, of one size or of many.
#pragma once

#include <string>
#include <vector>

#include "scenarios/console/timed_watch.h"
#include "scenarios/console/usage.h"
#include "scenarios/report/collective_run.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

Usage collective_usage();

struct CollectiveAnswer {
    std::vector<CollectiveRun> runs;  ///< one a size, at least one
    bool range = false;               ///< whether --bytes was a range of sizes
};

/// The path of --csv, empty without it. Throws sim::InputError where --bytes is no range, or nothing can be written there.
std::string csv_path(const Usage& options);

/// Throws sim::InputError, sim::TimeOverflow, Stopped, and what the watch throws.
CollectiveAnswer answer_collective(const Usage& options, TimedWatch& watch);

/// What --json writes: of a range an array.
Json answer_json(const CollectiveAnswer& answer);

}  // namespace podsim::scenarios
