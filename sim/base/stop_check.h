// A hook to end long work that no observer watches.
#pragma once

#include <functional>

namespace podsim::sim {

/// Called repeatedly by long work, in proportion to its progress, a few hundred times a second or
/// more. The requester ends the work by throwing. May be empty.
using StopCheck = std::function<void()>;

}  // namespace podsim::sim
