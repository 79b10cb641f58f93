// Ending long work that no observer watches.
#pragma once

#include <functional>

namespace podsim::sim {

/// Called by work that may be long, again and again in proportion to what it has done, some hundred times a second or
/// more; whoever asked for the work ends it by throwing. May be empty.
using StopCheck = std::function<void()>;

}  // namespace podsim::sim
