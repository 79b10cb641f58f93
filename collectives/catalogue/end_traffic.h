// What the ends of an operation must send or receive, for estimates by rule of thumb (book_time).
#pragma once

#include "collectives/vocabulary/operation.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

struct EndTraffic {
    sim::Bytes bytes;
    int links = 1;        ///< that they can take at once, at the end that has fewest
    int longest_way = 0;  ///< in links
};

/// Of a permute, send, broadcast, gather or scatter.
EndTraffic end_traffic(Operation operation, const topology::Lattice& slice, const Group& group,
                       sim::Bytes v, const Ends& ends);

}  // namespace podsim::collectives
