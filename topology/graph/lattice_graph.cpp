#include "topology/graph/lattice_graph.h"

#include <cassert>

#include <boost/concept/assert.hpp>
#include <boost/graph/graph_concepts.hpp>

namespace podsim::topology {

BOOST_CONCEPT_ASSERT((boost::concepts::VertexListGraphConcept<LatticeGraph>));
BOOST_CONCEPT_ASSERT((boost::concepts::IncidenceGraphConcept<LatticeGraph>));
BOOST_CONCEPT_ASSERT((boost::concepts::AdjacencyGraphConcept<LatticeGraph>));
BOOST_CONCEPT_ASSERT((boost::concepts::EdgeListGraphConcept<LatticeGraph>));

bool has_link(const Lattice& lattice, const Link& link) {
    const int axis = link.axis();
    const int length = lattice.length(axis);
    if (length == 1) {
        return false;
    }
    const int at = lattice.point(link.chip)[static_cast<std::size_t>(axis)] + link.direction();
    return lattice.wraps(axis) || (at >= 0 && at < length);
}

int far_end(const Lattice& lattice, const Link& link) {
    const auto end =
        lattice.canonical(lattice.point(link.chip) + along(link.axis(), link.direction()));
    assert(end);
    return lattice.index(*end);
}

LinkIterator::LinkIterator(const Lattice& lattice, int position, int end)
    : lattice_(&lattice), position_(position), end_(end) {
    skip_to_link();
}

void LinkIterator::increment() {
    ++position_;
    skip_to_link();
}

void LinkIterator::skip_to_link() {
    while (position_ < end_ && !has_link(*lattice_, dereference())) {
        ++position_;
    }
}

std::pair<LatticeGraph::vertex_iterator, LatticeGraph::vertex_iterator> vertices(
    const LatticeGraph& graph) {
    return {LatticeGraph::vertex_iterator(0),
            LatticeGraph::vertex_iterator(graph.lattice().size())};
}

std::size_t num_vertices(const LatticeGraph& graph) {
    return static_cast<std::size_t>(graph.lattice().size());
}

std::pair<LinkIterator, LinkIterator> out_edges(int chip, const LatticeGraph& graph) {
    const int end = (chip + 1) * kPorts;
    return {LinkIterator(graph.lattice(), chip * kPorts, end),
            LinkIterator(graph.lattice(), end, end)};
}

std::size_t out_degree(int chip, const LatticeGraph& graph) {
    const auto [begin, end] = out_edges(chip, graph);
    return static_cast<std::size_t>(std::distance(begin, end));
}

std::pair<LinkIterator, LinkIterator> edges(const LatticeGraph& graph) {
    const int end = graph.lattice().size() * kPorts;
    return {LinkIterator(graph.lattice(), 0, end), LinkIterator(graph.lattice(), end, end)};
}

std::size_t num_edges(const LatticeGraph& graph) {
    const auto [begin, end] = edges(graph);
    return static_cast<std::size_t>(std::distance(begin, end));
}

std::pair<LatticeGraph::adjacency_iterator, LatticeGraph::adjacency_iterator> adjacent_vertices(
    int chip, const LatticeGraph& graph) {
    const auto [begin, end] = out_edges(chip, graph);
    return {LatticeGraph::adjacency_iterator(begin, &graph),
            LatticeGraph::adjacency_iterator(end, &graph)};
}

}  // namespace podsim::topology
