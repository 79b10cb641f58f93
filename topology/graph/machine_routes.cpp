#include "topology/graph/machine_routes.h"

#include <algorithm>
#include <array>
#include <cassert>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/iteration_macros.hpp>

#include "topology/graph/machine_graph.h"
#include "topology/lattice/hosts.h"

namespace podsim::topology {
namespace {

constexpr std::uint32_t kNoVertex = 0xffffffff;

/// Sets of classes, from the nearest class alone to all; each adds the next farther class.
constexpr std::array<LinkClasses, kLinkClasses> kNearestFirst{0b1, 0b11, 0b111, 0b1111};

bool is_chip(const MachineGraph& graph, Vertex vertex) {
    return graph[vertex].kind == VertexKind::chip;
}

/// True if the link belongs to its target: links belong to the chip before the host, to the host
/// before the network.
bool belongs_to_target(const MachineGraph& graph, Vertex from, Vertex to) {
    return graph[to].kind < graph[from].kind;
}

/// Returns the position on the path of the chip that identifies the vertex at `at`: the vertex
/// itself or, for a host, the chip next to it on its own side of the network.
std::size_t chip_beside(const MachineGraph& graph, const std::vector<Vertex>& way, std::size_t at,
                        bool past_network) {
    while (!is_chip(graph, way[at])) {
        at = past_network || at == 0 ? at + 1 : at - 1;
    }
    return at;
}

/// Returns the links of a path through the graph, counted from the chips at its ends.
MachineRoute links_along(const MachineGraph& graph, const std::vector<Vertex>& way,
                         const std::vector<std::uint8_t>& kinds) {
    const Places& places = record(graph).places;
    const auto network = static_cast<std::size_t>(
        std::ranges::find(way, VertexKind::fabric, [&](Vertex v) { return graph[v].kind; }) -
        way.begin());
    MachineRoute links;
    for (std::size_t link = 0; link < kinds.size(); ++link) {
        const std::size_t owner =
            belongs_to_target(graph, way[link], way[link + 1]) ? link + 1 : link;
        const bool from_destination = owner > network || !is_chip(graph, way.front());
        const Vertex chip = way[chip_beside(graph, way, owner, owner > network)];
        const Vertex end = from_destination ? way.back() : way.front();
        links.push_back(
            {.kind = kinds[link],
             .from_destination = from_destination,
             .chips = places.point(static_cast<int>(chip)) - places.point(static_cast<int>(end)),
             .of_host = !is_chip(graph, way[owner])});
    }
    return links;
}

}  // namespace

struct MachineRoutes::Machine {
    MachineGraph graph;
};

struct MachineRoutes::Recorder : boost::default_bfs_visitor {
    const MachineGraph* graph = nullptr;
    Tree* tree = nullptr;

    template <class View>
    void tree_edge(const Edge& edge, const View& /*view*/) {
        (*tree)[target(edge, *graph)] = {source(edge, *graph), (*graph)[edge].kind};
    }
};

MachineRoutes::MachineRoutes(const Lattice& chips, const Point& host_shape)
    : machine_(std::make_shared<const Machine>(
          Machine{machine_graph(Places(chips, 2), host_shape, link_kinds())})) {}

const MachineRoutes::Tree& MachineRoutes::search(std::uint32_t from, unsigned classes) {
    const auto [entry, added] = trees_.try_emplace({from, classes});
    Tree& tree = entry->second;
    if (!added) {
        return tree;
    }
    const MachineGraph& graph = machine_->graph;
    const boost::filtered_graph<MachineGraph, LinksOf> links(graph, LinksOf{&graph, classes});
    tree.resize(num_vertices(graph), {kNoVertex, 0});
    Recorder recorder;
    recorder.graph = &graph;
    recorder.tree = &tree;
    boost::breadth_first_search(links, from, boost::visitor(recorder));
    return tree;
}

MachineRoute MachineRoutes::route(std::uint32_t from, std::uint32_t to) {
    const auto reached = std::ranges::find_if(kNearestFirst, [&](LinkClasses classes) {
        return search(from, classes)[to].from != kNoVertex;
    });
    assert(reached != kNearestFirst.end());
    const Tree& tree = search(from, *reached);
    std::vector<Vertex> way{to};
    std::vector<std::uint8_t> kinds;
    while (way.back() != from) {
        kinds.push_back(tree[way.back()].kind);
        way.push_back(tree[way.back()].from);
    }
    std::ranges::reverse(way);
    std::ranges::reverse(kinds);
    return links_along(machine_->graph, way, kinds);
}

MachineRoute MachineRoutes::to_other_slice(const Point& displacement) {
    const Places& places = record(machine_->graph).places;
    Point from{};
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const bool down = !places.chips.wrapped[axis] && displacement[axis] < 0;
        from[axis] = down ? places.chips.lengths[axis] - 1 : 0;
    }
    const auto to = places.chips.canonical(from + displacement);
    assert(to.has_value());
    return route(static_cast<Vertex>(places.index(from)),
                 static_cast<Vertex>(places.index(*to, 1)));
}

MachineRoute MachineRoutes::to_host() {
    return route(0, vertex_of(machine_->graph, VertexKind::host, 0));
}

MachineRoute MachineRoutes::from_host() {
    return route(vertex_of(machine_->graph, VertexKind::host, 0), 0);
}

Point MachineRoutes::chips_sharing_links(const Lattice& slice, const Point& host_shape) {
    // One host stands for all.
    const Point box = Hosts(slice, host_shape).box();
    const Lattice one{.lengths = box, .wrapped = {}, .wrap_shift = {}};
    MachineRoutes routes(one, box);
    Point sharing{1, 1, 1};
    if (std::ranges::none_of(routes.to_other_slice({}), &RouteLink::of_host)) {
        return sharing;
    }
    const MachineGraph& graph = routes.machine_->graph;
    BGL_FORALL_ADJ(vertex_of(graph, VertexKind::host, 0), chip, graph, MachineGraph) {
        for (std::size_t axis = 0; is_chip(graph, chip) && axis < kAxes; ++axis) {
            const int at = record(graph).places.point(static_cast<int>(chip))[axis];
            sharing[axis] = std::max(sharing[axis], at + 1);
        }
    }
    return sharing;
}

}  // namespace podsim::topology
