#include "topology/graph/machine_graph.h"

#include <cassert>

#include <boost/concept/assert.hpp>
#include <boost/graph/graph_concepts.hpp>

#include "topology/lattice/hosts.h"

namespace podsim::topology {

BOOST_CONCEPT_ASSERT((boost::concepts::VertexListGraphConcept<MachineGraph>));
BOOST_CONCEPT_ASSERT((boost::concepts::IncidenceGraphConcept<MachineGraph>));
BOOST_CONCEPT_ASSERT((boost::concepts::AdjacencyGraphConcept<MachineGraph>));
BOOST_CONCEPT_ASSERT((boost::concepts::EdgeListGraphConcept<MachineGraph>));

namespace {

void link_torus(const Places& places, MachineBuilder& builder) {
    const Lattice& chips = places.chips;
    for (int place = 0; place < places.size(); ++place) {
        for (std::uint32_t port = 0; port < kIciPorts; ++port) {
            const int axis = axis_of(port);
            if (chips.length(axis) == 1) {
                continue;
            }
            const auto to = chips.canonical(places.point(place) + along(axis, direction_of(port)));
            if (to.has_value()) {
                builder.link(static_cast<Vertex>(place),
                             static_cast<Vertex>(places.index(*to, places.slice_of(place))), port);
            }
        }
    }
}

}  // namespace

Vertex MachineBuilder::add(VertexKind kind, int count) {
    const auto k = static_cast<std::size_t>(kind);
    assert(record_.count[k] == 0 && (kind != VertexKind::chip || vertices_ == 0));
    record_.first[k] = vertices_;
    record_.count[k] = static_cast<std::uint32_t>(count);
    vertices_ += record_.count[k];
    return record_.first[k];
}

MachineGraph MachineBuilder::build(const Places& places) {
    record_.places = places;
    MachineGraph graph(boost::edges_are_unsorted_multi_pass, ends_.begin(), ends_.end(),
                       links_.begin(), vertices_, record_);
    for (std::size_t kind = 0; kind < kVertexKinds; ++kind) {
        for (std::uint32_t number = 0; number < record_.count[kind]; ++number) {
            graph[record_.first[kind] + number] = {static_cast<VertexKind>(kind), number};
        }
    }
    return graph;
}

MachineGraph machine_graph(const Places& places, const Point& host_shape,
                           std::vector<LinkKind> kinds) {
    const Hosts hosts(places.chips, host_shape);
    MachineBuilder builder(std::move(kinds));
    builder.add(VertexKind::chip, places.size());
    const Vertex first_hbm = builder.add(VertexKind::hbm, places.size());
    const Vertex first_host = builder.add(VertexKind::host, hosts.count() * places.slices);
    const Vertex network = builder.add(VertexKind::fabric, 1);
    link_torus(places, builder);
    for (int place = 0; place < places.size(); ++place) {
        const auto chip = static_cast<Vertex>(place);
        const Vertex hbm = first_hbm + chip;
        builder.link(hbm, chip, kHbmRead);
        builder.link(chip, hbm, kHbmWrite);
        const Vertex host =
            first_host + static_cast<Vertex>(places.slice_of(place) * hosts.count() +
                                             hosts.host_of(places.point(place)));
        builder.link(chip, host, kPcieToHost);
        builder.link(host, chip, kPcieToChip);
    }
    for (Vertex host = first_host; host < network; ++host) {
        builder.link(host, network, kDcnOut);
        builder.link(network, host, kDcnIn);
    }
    return builder.build(places);
}

MachineGraph torus_graph(const Lattice& slice) {
    MachineBuilder builder(link_kinds());
    builder.add(VertexKind::chip, slice.size());
    link_torus(slice, builder);
    return builder.build(slice);
}

std::optional<int> neighbour(const MachineGraph& graph, int chip, std::uint32_t ici_port) {
    const auto [begin, end] = out_edges(static_cast<Vertex>(chip), graph);
    for (auto edge = begin; edge != end; ++edge) {
        if (graph[*edge].kind == ici_port) {
            return static_cast<int>(target(*edge, graph));
        }
    }
    return std::nullopt;
}

}  // namespace podsim::topology
