// Carries data for operations between named ends: permute, send, broadcast, gather, scatter.
//
// A block is what one member's share is (of a broadcast or send: the array), in numbered pieces, one
// a message (Payload). A message takes its piece when it leaves and leaves it where it arrives.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/observer.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// Runs the case on the whole slice and gives the first thing that went wrong: a message that its sender
/// does not have or that comes twice, a chip that ends with less or more than promised, pieces whose
/// bytes do not add up to their block. Empty when all is well. Also holds the run to the checks of
/// checks.h: bytes on links, the bound, the fold, and the closed form where there is one.
std::string carry(const Case& c);

}  // namespace podsim::collectives
