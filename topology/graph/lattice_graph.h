// A lattice as a graph for Boost.Graph: chips are vertices, directed ICI links are edges.
//
// Nothing is stored: vertices are Lattice indices, and a chip's links are its ports, two per axis
// (+ and -). A port has a link when the axis is longer than 1 and either wraps or does not end
// there. A wrapped axis of length 2 has two parallel links to the same neighbour, one a port. The
// graph models VertexListGraph, IncidenceGraph, AdjacencyGraph and EdgeListGraph (asserted in
// lattice_graph.cpp). Boost's own grid_graph is not used: it knows no twisted wraps, and its
// previous() is wrong on rings.
#pragma once

#include <cstddef>
#include <utility>

#include <boost/graph/adjacency_iterator.hpp>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>

#include "topology/lattice/lattice.h"

namespace podsim::topology {

inline constexpr int kPorts = 2 * kAxes;

/// The directed link that leaves a chip through a port.
struct Link {
    int chip = 0;
    int port = 0;  ///< 2 axis for +, 2 axis + 1 for -

    [[nodiscard]] int axis() const { return port / 2; }
    [[nodiscard]] int direction() const { return port % 2 == 0 ? 1 : -1; }
    friend auto operator<=>(const Link&, const Link&) = default;
};

class LatticeGraph;

/// Walks over (chip, port) in order and stops at the ports that have a link.
class LinkIterator
    : public boost::iterator_facade<LinkIterator, Link, boost::forward_traversal_tag, Link> {
public:
    LinkIterator() = default;
    /// From the first link at or after `position` = chip x kPorts + port, up to `end`.
    LinkIterator(const Lattice& lattice, int position, int end);

private:
    friend class boost::iterator_core_access;
    [[nodiscard]] Link dereference() const { return {position_ / kPorts, position_ % kPorts}; }
    [[nodiscard]] bool equal(const LinkIterator& other) const {
        return position_ == other.position_;
    }
    void increment();
    void skip_to_link();

    const Lattice* lattice_ = nullptr;
    int position_ = 0;
    int end_ = 0;
};

class LatticeGraph {
public:
    using vertex_descriptor = int;
    using edge_descriptor = Link;
    using directed_category = boost::directed_tag;
    using edge_parallel_category = boost::allow_parallel_edge_tag;
    struct traversal_category : boost::vertex_list_graph_tag,
                                boost::incidence_graph_tag,
                                boost::adjacency_graph_tag,
                                boost::edge_list_graph_tag {};
    using vertices_size_type = std::size_t;
    using edges_size_type = std::size_t;
    using degree_size_type = std::size_t;
    using vertex_iterator = boost::counting_iterator<int>;
    using out_edge_iterator = LinkIterator;
    using edge_iterator = LinkIterator;
    using adjacency_iterator =
        boost::adjacency_iterator_generator<LatticeGraph, int, LinkIterator>::type;

    explicit LatticeGraph(const Lattice& lattice) : lattice_(lattice) {}

    [[nodiscard]] const Lattice& lattice() const { return lattice_; }

    static int null_vertex() { return -1; }

private:
    Lattice lattice_;
};

/// Whether the port of that chip has a link.
bool has_link(const Lattice& lattice, const Link& link);
/// The chip at the far end of an existing link.
int far_end(const Lattice& lattice, const Link& link);

// What the concepts ask for, found by argument-dependent look-up. Iterators live as long as the
// graph.
inline int source(const Link& link, const LatticeGraph&) {
    return link.chip;
}
inline int target(const Link& link, const LatticeGraph& graph) {
    return far_end(graph.lattice(), link);
}
std::pair<LatticeGraph::vertex_iterator, LatticeGraph::vertex_iterator> vertices(
    const LatticeGraph& graph);
std::size_t num_vertices(const LatticeGraph& graph);
std::pair<LinkIterator, LinkIterator> out_edges(int chip, const LatticeGraph& graph);
std::size_t out_degree(int chip, const LatticeGraph& graph);
std::pair<LinkIterator, LinkIterator> edges(const LatticeGraph& graph);
std::size_t num_edges(const LatticeGraph& graph);
std::pair<LatticeGraph::adjacency_iterator, LatticeGraph::adjacency_iterator> adjacent_vertices(
    int chip, const LatticeGraph& graph);
inline boost::typed_identity_property_map<int> get(boost::vertex_index_t, const LatticeGraph&) {
    return {};
}

}  // namespace podsim::topology

template <>
struct boost::property_map<podsim::topology::LatticeGraph, boost::vertex_index_t> {
    using type = boost::typed_identity_property_map<int>;
    using const_type = type;
};
