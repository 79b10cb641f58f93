// Draws a machine with Graphviz.
#pragma once

#include <iosfwd>

#include "topology/graph/machine_graph.h"

namespace podsim::topology {

/// Writes the machine in the DOT language, for `dot`. A host is a box around its chips, each with
/// its HBM. A line is a pair of links, one in each direction, coloured by class (ICI by axis,
/// dashed past the end of an axis). A legend has the number of links, the rate and the latency of
/// each class.
void write_graphviz(std::ostream& out, const MachineGraph& machine);

}  // namespace podsim::topology
