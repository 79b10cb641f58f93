// `podsim collective`: one collective at one size or at several.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/cli/timed_watch.h"
#include "scenarios/src/cli/usage.h"
#include "scenarios/src/report/collective_run.h"

namespace podsim::scenarios {

Usage collective_usage();

struct CollectiveAnswer {
    std::vector<CollectiveRun> runs;  ///< one per size, at least one
    bool range = false;               ///< true if --bytes was a range of sizes
};

/// Returns the path of --csv, empty without it. Throws sim::InputError if --bytes is no range or
/// the path is not writable.
std::string csv_path(const Usage& options);

/// Throws sim::InputError, sim::TimeOverflow, Stopped, and what the watch throws.
CollectiveAnswer answer_collective(const Usage& options, TimedWatch& watch);

/// Returns the document of --json; an array if --bytes was a range.
Json answer_json(const CollectiveAnswer& answer);
int command_collective(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
