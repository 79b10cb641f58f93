// A timeline's trace events in a file.
#pragma once

#include <functional>
#include <string>

#include "scenarios/timeline/timeline.h"

namespace podsim::scenarios {

/// Writes what `tell` tells its sink of to the file that --trace names; compressed (gzip) where the path ends in `.gz`.
/// `name` is that of the scenario. Throws cannot_write when not all of it arrived.
void write_event_file(const std::string& path, const std::string& name,
                      const std::function<void(TimelineSink&)>& tell);

}  // namespace podsim::scenarios
