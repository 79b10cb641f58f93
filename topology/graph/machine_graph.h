// A machine as a graph for Boost.Graph: chips, their HBM, hosts and networks are vertices, directed links
// are edges, of whatever shape the machine is.
//
// Stored in compressed rows (boost::compressed_sparse_row_graph, 5 bytes a link and 8 a vertex): the graph
// models VertexListGraph, IncidenceGraph, AdjacencyGraph and EdgeListGraph (asserted in
// machine_graph.cpp). Vertices of one kind stand in a row, chips first, so that a chip's vertex is its
// number. A host is its processor and its memory in one, since nothing is published of the way between them.
// Parts of the graph are views of it: boost::filtered_graph with LinksOf or LiveLinks.
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
    fabric,  ///< a switch, or a network that is not looked into: what joins its ports
};
inline constexpr std::size_t kVertexKinds = 4;

struct MachineVertex {
    VertexKind kind{};
    std::uint32_t number = 0;  ///< among the vertices of its kind
};

struct MachineLink {
    std::uint8_t kind = 0;  ///< row of MachineRecord::kinds
};

/// What is true of the machine as a whole.
struct MachineRecord {
    std::vector<LinkKind> kinds;
    Places places;  ///< of the chips; of a machine without a torus one place, which says nothing
    std::array<std::uint32_t, kVertexKinds> first{};  ///< vertex of each kind
    std::array<std::uint32_t, kVertexKinds> count{};  ///< vertices of each kind
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

/// Keeps the links of some classes (a predicate of boost::filtered_graph).
struct LinksOf {
    const MachineGraph* graph = nullptr;
    LinkClasses classes = kAllClasses;

    bool operator()(const Edge& edge) const {
        return (classes & only(kind_of(*graph, edge).link_class)) != 0;
    }
};

/// Keeps the links of the torus but those that are dead in the first slices, as many as `dead` has.
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

    /// All vertices of that kind, once; chips before all others. The first of them.
    Vertex add(VertexKind kind, int count);
    void link(Vertex from, Vertex to, std::uint32_t kind) {
        ends_.emplace_back(from, to);
        links_.push_back({static_cast<std::uint8_t>(kind)});
    }
    /// Links leave a vertex in the order in which they were given.
    MachineGraph build(const Places& places = {});

private:
    MachineRecord record_;
    std::uint32_t vertices_ = 0;
    std::vector<std::pair<Vertex, Vertex>> ends_;
    std::vector<MachineLink> links_;
};

/// Slices: chips at `places`, two directed ICI links along each axis (the edge of an unwrapped axis lacks one;
/// a wrapped axis of length 2 has parallel links), an HBM and a host each by links both ways, every host joined
/// to one network that all slices share. `host_shape` as Hosts takes it, `kinds` as link_kinds() has them.
MachineGraph machine_graph(const Places& places, const Point& host_shape,
                           std::vector<LinkKind> kinds);

/// The chips and their ICI links alone, without rates.
MachineGraph torus_graph(const Lattice& slice);

/// Where the chip's link of that kind leads; nothing where it has none.
std::optional<int> neighbour(const MachineGraph& graph, int chip, std::uint32_t ici_port);

}  // namespace podsim::topology
