// Bytes that an AllToAll brings from every member to every other.
#pragma once

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// Runs the case on the whole slice and checks that every member receives the pair's bytes from
/// every other member of its group, and nothing else.
void expect_pairs_exchange(const Case& c);

}  // namespace podsim::collectives
