// Carries data for operations between named ends: permute, send, broadcast, gather, scatter.
//
// A block is one member's share (the whole array for a broadcast or send), in numbered pieces, one
// a message (Payload). A message takes its piece when it leaves and delivers it where it arrives.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/observer.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// Runs the case on the whole slice and returns the first error; empty if there is none. Errors are
/// a message that its sender does not have or that comes twice, a chip that ends with less or more
/// than promised, and pieces whose bytes do not add up to their block. Also applies the checks of
/// checks.h: bytes on links, the bound, the fold, and the closed form if there is one.
std::string carry(const Case& c);

}  // namespace podsim::collectives
