// A machine of any shape as a graph for Boost.Graph: chips, their HBM, hosts and networks are
// vertices, directed links are edges.
//
// It is stored in compressed rows (boost::compressed_sparse_row_graph, 5 bytes a link and 8 a
// vertex). The graph models VertexListGraph, IncidenceGraph, AdjacencyGraph and EdgeListGraph
// (asserted in machine_graph.cpp). Vertices of one kind are contiguous, chips first, so that a
// chip's vertex is its number. A host is processor and memory in one, since no data on the path
// between them is published. Subgraphs are views: boost::filtered_graph with LinksOf or LiveLinks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/property_map/function_property_map.hpp>

#include "topology/graph/link_kinds.h"
#include "topology/lattice/dead_links.h"
#include "topology/lattice/places.h"

namespace podsim::topology {

enum class VertexKind : std::uint8_t {
    chip,
    hbm,
    host,
    /// A switch, or a network without internal structure, that joins its ports.
    fabric,
};
inline constexpr std::size_t kVertexKinds = 4;

struct MachineVertex {
    VertexKind kind{};
    std::uint32_t number = 0;  ///< index among the vertices of its kind
};

struct MachineLink {
    std::uint8_t kind = 0;  ///< row of MachineRecord::kinds
};

/// Properties of the machine as a whole.
struct MachineRecord {
    std::vector<LinkKind> kinds;
    /// Places of the chips; a single meaningless place if the machine has no torus.
    Places places;
    std::array<std::uint32_t, kVertexKinds> first{};  ///< [kind]: first vertex
    std::array<std::uint32_t, kVertexKinds> count{};  ///< [kind]: number of vertices
};

using MachineGraph =
    boost::compressed_sparse_row_graph<boost::directedS, MachineVertex, MachineLink, MachineRecord,
                                       std::uint32_t, std::uint32_t>;
using Vertex = boost::graph_traits<MachineGraph>::vertex_descriptor;
using Edge = boost::graph_traits<MachineGraph>::edge_descriptor;

inline const MachineRecord& record(const MachineGraph& graph) {
    return graph[boost::graph_bundle];
}
inline const LinkKind& kind_of(const MachineGraph& graph, const Edge& edge) {
    return record(graph).kinds[graph[edge].kind];
}
inline Vertex vertex_of(const MachineGraph& graph, VertexKind kind, int number) {
    return record(graph).first[static_cast<std::size_t>(kind)] + static_cast<std::uint32_t>(number);
}
inline int count_of(const MachineGraph& graph, VertexKind kind) {
    return static_cast<int>(record(graph).count[static_cast<std::size_t>(kind)]);
}

/// Property maps of links: their class, rate (B/s) and latency (s).
inline auto class_map(const MachineGraph& graph) {
    return boost::make_function_property_map<Edge>(
        [&graph](const Edge& edge) { return kind_of(graph, edge).link_class; });
}
inline auto rate_map(const MachineGraph& graph) {
    return boost::make_function_property_map<Edge>(
        [&graph](const Edge& edge) { return kind_of(graph, edge).rate.value.value(); });
}
inline auto latency_map(const MachineGraph& graph) {
    return boost::make_function_property_map<Edge>(
        [&graph](const Edge& edge) { return kind_of(graph, edge).latency.value.value(); });
}

/// A set of classes: bit c for class c.
using LinkClasses = unsigned;
constexpr LinkClasses only(LinkClass link_class) {
    return 1U << static_cast<unsigned>(link_class);
}
inline constexpr LinkClasses kAllClasses = (1U << kLinkClasses) - 1;

/// A predicate of boost::filtered_graph that keeps the links of the given classes.
struct LinksOf {
    const MachineGraph* graph = nullptr;
    LinkClasses classes = kAllClasses;

    bool operator()(const Edge& edge) const {
        return (classes & only(kind_of(*graph, edge).link_class)) != 0;
    }
};

/// A predicate that keeps the links of the torus, except for dead ones. `dead` covers the first
/// slices, as many as it has.
struct LiveLinks {
    const MachineGraph* graph = nullptr;
    const DeadLinks* dead = nullptr;

    bool operator()(const Edge& edge) const {
        if (kind_of(*graph, edge).link_class != LinkClass::ici) {
            return false;
        }
        const std::uint32_t port = (*graph)[edge].kind;
        const int place = static_cast<int>(source(edge, *graph));
        return dead->axes() == 0 || place >= dead->places().size() ||
               !dead->blocked(place, axis_of(port), direction_of(port));
    }
};

/// Collects the vertices and links of a machine.
class MachineBuilder {
public:
    explicit MachineBuilder(std::vector<LinkKind> kinds) { record_.kinds = std::move(kinds); }

    /// Adds all vertices of that kind; called once per kind, for chips before all others. Returns
    /// the first.
    Vertex add(VertexKind kind, int count);
    void link(Vertex from, Vertex to, std::uint32_t kind) {
        ends_.emplace_back(from, to);
        links_.push_back({static_cast<std::uint8_t>(kind)});
    }
    /// Builds the graph. Links leave a vertex in the order in which they were added.
    MachineGraph build(const Places& places = {});

private:
    MachineRecord record_;
    std::uint32_t vertices_ = 0;
    std::vector<std::pair<Vertex, Vertex>> ends_;
    std::vector<MachineLink> links_;
};

/// Returns the graph of slices: chips at `places`, with two directed ICI links along each axis (the
/// edge of an unwrapped axis lacks one; a wrapped axis of length 2 has parallel links). Each chip
/// has links in both directions to its HBM and to its host. Every host is joined to one network
/// that all slices share. `host_shape` is as for Hosts, `kinds` as from link_kinds().
MachineGraph machine_graph(const Places& places, const Point& host_shape,
                           std::vector<LinkKind> kinds);

/// Returns the graph of the chips and their ICI links alone, without rates.
MachineGraph torus_graph(const Lattice& slice);

/// Returns the chip at the other end of the chip's link of that kind; nullopt if it has none.
std::optional<int> neighbour(const MachineGraph& graph, int chip, std::uint32_t ici_port);

}  // namespace podsim::topology
