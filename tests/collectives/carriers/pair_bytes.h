// What an AllToAll brings from every member to every other.
#pragma once

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// Runs the case on the whole slice: from every member to every other of its group come the pair's bytes, and
/// nothing else.
void expect_pairs_exchange(const Case& c);

}  // namespace podsim::collectives
