// A slice as a Graphviz drawing.
#pragma once

#include <iosfwd>

#include "topology/lattice/lattice.h"

namespace podsim::topology {

/// Writes the slice in the DOT language (Boost.Graph's write_graphviz). A vertex is a chip,
/// labelled with its coordinates. An edge is an undirected ICI link (both arrows), labelled with
/// its axis and coloured by it; links past the end of an axis are dashed.
void write_graphviz(std::ostream& out, const Lattice& slice);

}  // namespace podsim::topology
