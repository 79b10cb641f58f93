// What `podsim hlo` computes: the totals of a module, or its step on a slice.
#pragma once

#include <optional>

#include "scenarios/console/timed_watch.h"
#include "scenarios/console/usage.h"
#include "scenarios/hlo/hlo_request.h"
#include "scenarios/hlo/simulate_hlo.h"
#include "scenarios/text/json_text.h"
#include "workloads/hlo_totals/totals.h"

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

/// What --trace writes. Throws sim::InputError where the run is too long for it.
void write_timeline(const HloAnswer& answer, const std::string& path);

/// What --json writes.
Json answer_json(const HloAnswer& answer);

}  // namespace podsim::scenarios
