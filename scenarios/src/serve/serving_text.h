// The report of a serving run for people.
#pragma once

#include <span>
#include <string>

#include "scenarios/src/report/verdict.h"
#include "scenarios/src/serve/serving_run.h"

namespace podsim::scenarios {

/// Returns the sections: request load and servers; latencies; rates; the queue, and if the servers
/// are overloaded; servers, caches and the balance of disaggregated ones; the grid and its error;
/// expectations.
std::string serving_text(const ServingRun& run, std::span<const Verdict> verdicts = {});

/// Returns `1024 tokens`, `100 to 300 tokens`, `lognormal, mean 500, sigma 0.6, 1 to 4096 tokens`.
std::string length_text(const LengthSpec& length);

/// Returns `static`, `continuous`, `chunked`, as the key is written.
std::string_view to_string(BatchingKind kind);

}  // namespace podsim::scenarios
