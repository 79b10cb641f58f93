#include "topology/graph/graphviz.h"

#include <array>
#include <fmt/format.h>
#include <ostream>

#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graphviz.hpp>

#include "topology/graph/lattice_graph.h"

namespace podsim::topology {
namespace {

/// Keeps one direction of each link.
struct Forward {
    bool operator()(const Link& link) const { return link.direction() > 0; }
};

std::string edge_attributes(const Lattice& slice, const Link& link) {
    constexpr std::array<const char*, kAxes> kColours{"red3", "green4", "blue3"};
    const int axis = link.axis();
    const int at = slice.point(link.chip)[static_cast<std::size_t>(axis)];
    return fmt::format("[dir=both,label=\"{}\",color={}{}]", axis_name(axis),
                       kColours[static_cast<std::size_t>(axis)],
                       at + 1 == slice.length(axis) ? ",style=dashed" : "");
}

}  // namespace

void write_graphviz(std::ostream& out, const Lattice& slice) {
    const LatticeGraph graph(slice);
    const boost::filtered_graph<LatticeGraph, Forward> links(graph, Forward{});
    boost::write_graphviz(
        out, links,
        [&](std::ostream& text, int chip) {
            text << fmt::format("[label=\"{}\"]", fmt::join(slice.point(chip), ","));
        },
        [&](std::ostream& text, const Link& link) { text << edge_attributes(slice, link); },
        boost::default_writer(), boost::typed_identity_property_map<int>());
}

}  // namespace podsim::topology
