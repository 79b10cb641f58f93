// `podsim hlo`: the totals of a module, or its step on a slice.
#pragma once

#include <iosfwd>
#include <optional>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/cli/timed_watch.h"
#include "scenarios/src/cli/usage.h"
#include "scenarios/src/hlo/hlo_request.h"
#include "scenarios/src/hlo/simulate_hlo.h"
#include "workloads/hlo/totals.h"

namespace podsim::scenarios {

Usage hlo_usage();

struct HloAnswer {
    HloRequest request;
    workloads::hlo::Totals totals;    ///< of `stats`
    std::optional<HloResult> result;  ///< of `run`
    double wall_time_s = 0;
};

/// Throws sim::InputError, Stopped, and what the watch throws.
HloAnswer answer_hlo(const Usage& options, TimedWatch& watch);

/// Writes the timeline of --trace. Throws sim::InputError if the run is too long for one.
void write_timeline(const HloAnswer& answer, const std::string& path);

/// Returns the document of --json.
Json answer_json(const HloAnswer& answer);
int command_hlo(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
