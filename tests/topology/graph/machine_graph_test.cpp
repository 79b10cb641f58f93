// The machine graph: its vertices and links, its sums, searches by Boost.Graph over its property
// maps, and a machine of switches.
#include "topology/graph/machine_graph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/iteration_macros.hpp>

#include "sim/executor/executor.h"
#include "tests/topology/lattice_support.h"
#include "topology/graph/flow.h"
#include "topology/graph/graphviz.h"
#include "topology/graph/machine_totals.h"
#include "topology/lattice/hosts.h"

namespace podsim::topology {
namespace {

MachineGraph machine_of(const ChipSpec& chip, const Point& shape, int slices = 1) {
    return machine_graph(Places(make_slice(chip, shape, false), slices), chip.host_shape.value,
                         link_kinds(chip));
}

std::vector<int> links_by_class(const MachineGraph& graph) {
    std::vector<int> links(kLinkClasses);
    BGL_FORALL_EDGES(link, graph, MachineGraph) {
        ++links[static_cast<std::size_t>(get(class_map(graph), link))];
    }
    return links;
}

class MachineOfChip : public testing::TestWithParam<ChipSpec> {};

INSTANTIATE_TEST_SUITE_P(Catalogue, MachineOfChip,
                         testing::ValuesIn(chip_catalogue().begin(), chip_catalogue().end()),
                         [](const auto& chip) { return chip.param.name; });

// In a whole pod every axis wraps (4 or 6 ICI links leave a chip) and hosts are whole.
TEST_P(MachineOfChip, PodsHaveSoManyVerticesAndLinks) {
    const ChipSpec& chip = GetParam();
    const Point& pod = chip.pod_shape.value;
    const Point& host = chip.host_shape.value;
    const int slices = 2;
    const int chips = slices * pod[0] * pod[1] * pod[2];
    const int hosts = chips / (host[0] * host[1] * host[2]);
    const MachineGraph graph = machine_of(chip, pod, slices);
    EXPECT_EQ(count_of(graph, VertexKind::chip), chips);
    EXPECT_EQ(count_of(graph, VertexKind::hbm), chips);
    EXPECT_EQ(count_of(graph, VertexKind::host), hosts);
    EXPECT_EQ(count_of(graph, VertexKind::fabric), 1);
    EXPECT_EQ(num_vertices(graph), static_cast<std::size_t>(2 * chips + hosts + 1));
    EXPECT_EQ(links_by_class(graph),
              (std::vector<int>{2 * chips, chip.ici_links.value * chips, 2 * chips, 2 * hosts}));
}

TEST_P(MachineOfChip, EveryRateAndLatencyHasASource) {
    for (const LinkKind& kind : link_kinds(GetParam(), IciRates::vendor, 2)) {
        EXPECT_GT(kind.rate.value.value(), 0) << kind.name;
        EXPECT_FALSE(kind.rate.source.empty()) << kind.name;
        EXPECT_FALSE(kind.latency.source.empty()) << kind.name;
        EXPECT_FALSE(kind.name.empty());
    }
    const std::vector<LinkKind> halved = link_kinds(GetParam(), IciRates::vendor, 2);
    EXPECT_EQ(halved[kDcnOut].rate.value, GetParam().dcn_per_host.value / 2);
    EXPECT_EQ(halved[kPcieToHost].rate.value, GetParam().pcie_one_way.value);
    EXPECT_EQ(halved[port_of(0, 1)].rate.value, GetParam().ici_one_way_vendor.value);
}

// Every link has a link of the same class back.
TEST_P(MachineOfChip, LinksComeInPairs) {
    const MachineGraph graph = machine_of(GetParam(), {4, 4, 1}, 2);
    const auto count = [&](Vertex from, Vertex to, LinkClass link_class) {
        int links = 0;
        BGL_FORALL_OUTEDGES(from, link, graph, MachineGraph) {
            links += target(link, graph) == to && kind_of(graph, link).link_class == link_class;
        }
        return links;
    };
    BGL_FORALL_EDGES(link, graph, MachineGraph) {
        const LinkClass of = kind_of(graph, link).link_class;
        EXPECT_EQ(count(source(link, graph), target(link, graph), of),
                  count(target(link, graph), source(link, graph), of));
    }
}

TEST(MachineGraph, HostsJoinTheirBoxOfChipsToTheNetwork) {
    const MachineGraph graph = machine_of(find_chip("v5e"), {4, 4, 1}, 2);  // hosts of 4x2
    const Lattice& slice = record(graph).places.chips;
    const Hosts hosts(slice, {4, 2, 1});
    const Vertex network = vertex_of(graph, VertexKind::fabric, 0);
    for (int host = 0; host < 4; ++host) {
        std::vector<int> chips;
        std::vector<Vertex> networks;
        BGL_FORALL_ADJ(vertex_of(graph, VertexKind::host, host), next, graph, MachineGraph) {
            if (graph[next].kind == VertexKind::chip) {
                chips.push_back(static_cast<int>(next));
            } else {
                networks.push_back(next);
            }
        }
        EXPECT_EQ(networks, std::vector<Vertex>{network});
        ASSERT_EQ(chips.size(), 8U);
        for (const int place : chips) {
            EXPECT_EQ(place / 16 * 2 + hosts.host_of(slice.point(place % 16)), host);
        }
    }
}

// 4 chips of v5p have 4 lines of two chips and one host.
TEST(MachineTotals, ByHand) {
    const ChipSpec& v5p = find_chip("v5p");
    const MachineTotals four = totals(machine_of(v5p, {2, 2, 1}), v5p);
    EXPECT_EQ(four.chips, 4);
    EXPECT_EQ(four.hosts, 1);
    EXPECT_EQ(four.cores, 8);
    EXPECT_EQ(four.bf16_flops.value(), 4 * 4.59e14);
    EXPECT_EQ(four.int8_ops.value(), 4 * 9.18e14);
    EXPECT_EQ(four.fp8_flops.value(), 4 * 4.59e14);
    EXPECT_EQ(four.hbm_capacity.value(), 4 * 96.0 * 1024 * 1024 * 1024);
    EXPECT_EQ(four.of(LinkClass::hbm), (ClassTotals{8, sim::BytesPerSecond(4 * 2.8e12)}));
    EXPECT_EQ(four.of(LinkClass::ici), (ClassTotals{8, sim::BytesPerSecond(8 * 9e10)}));
    EXPECT_EQ(four.of(LinkClass::pcie), (ClassTotals{8, sim::BytesPerSecond(8 * 1.5e10)}));
    EXPECT_EQ(four.of(LinkClass::dcn), (ClassTotals{2, sim::BytesPerSecond(2 * 2.5e10)}));
}

// A dead link removes its two directions from the ICI links and their rates, and nothing else.
TEST(MachineTotals, LeaveDeadLinksOut) {
    const ChipSpec& v5p = find_chip("v5p");
    const MachineGraph machine = machine_of(v5p, {2, 2, 1});
    DeadLinks dead(make_slice(v5p, {2, 2, 1}, false));
    dead.add(0, 0);
    const MachineTotals cut = totals(machine, v5p, dead);
    EXPECT_EQ(cut.of(LinkClass::ici), (ClassTotals{6, sim::BytesPerSecond(6 * 9e10)}));
    EXPECT_EQ(cut.of(LinkClass::hbm), totals(machine, v5p).of(LinkClass::hbm));
    EXPECT_EQ(cut.chips, 4);
}

// Latencies are 1 us for PCIe, 10 us out to the network,
// 0 in to the host, 1 us for PCIe; an ICI hop takes 1 us.
TEST(MachineGraph, LatenciesByDijkstra) {
    const MachineGraph graph = machine_of(find_chip("v5p"), {2, 2, 1}, 2);
    std::vector<double> seconds(num_vertices(graph));
    boost::dijkstra_shortest_paths(graph, Vertex{0},
                                   boost::weight_map(latency_map(graph))
                                       .distance_map(boost::make_iterator_property_map(
                                           seconds.begin(), get(boost::vertex_index, graph))));
    EXPECT_DOUBLE_EQ(seconds[1], 1e-6);
    EXPECT_DOUBLE_EQ(seconds[3], 2e-6);
    EXPECT_DOUBLE_EQ(seconds[vertex_of(graph, VertexKind::host, 0)], 1e-6);
    EXPECT_DOUBLE_EQ(seconds[vertex_of(graph, VertexKind::fabric, 0)], 11e-6);
    for (int chip = 4; chip < 8; ++chip) {
        EXPECT_DOUBLE_EQ(seconds[static_cast<std::size_t>(chip)], 12e-6);
    }
}

// The largest flow between the halves of a slice is the number of links across the smallest plane.
TEST(MachineGraph, BisectionIsALargestFlow) {
    const MachineGraph graph = torus_graph(make_slice(find_chip("v5e"), {4, 8, 1}, false));
    std::vector<Arc> arcs;
    BGL_FORALL_EDGES(link, graph, MachineGraph) {
        arcs.push_back(
            {static_cast<int>(source(link, graph)), static_cast<int>(target(link, graph)), 1});
    }
    const int left = 32;
    const int right = 33;
    for (int chip = 0; chip < 32; ++chip) {
        const bool lower = chip % 8 < 4;
        arcs.push_back(lower ? Arc{left, chip, 100} : Arc{chip, right, 100});
    }
    EXPECT_EQ(max_flow(34, arcs, left, right).value, 4);
}

std::size_t times(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

// The drawing has 4 ICI, 4 HBM, 4 PCIe pairs and one to the network, each once, and a legend row
// for x, y, pcie, dcn, hbm.
TEST(Graphviz, DrawsEachPairOnceInsideItsHost) {
    std::ostringstream out;
    write_graphviz(out, machine_of(find_chip("v5p"), {2, 2, 1}));
    const std::string text = out.str();
    EXPECT_EQ(times(text, "->"), 13U);
    EXPECT_EQ(times(text, "subgraph cluster_host"), 1U);
    EXPECT_EQ(times(text, "shape=cylinder"), 4U);
    EXPECT_EQ(times(text, " pairs</td>"), 5U);
    EXPECT_EQ(times(text, "90 GB/s each way"), 2U);
    EXPECT_EQ(times(text, "2800 GB/s in all"), 1U);
    EXPECT_EQ(times(text, "dashed"), 0U);
    EXPECT_NE(text.find("\"chip 1,0,0\",shape=box"), std::string::npos);
    EXPECT_NE(text.find("0->2 [color=red3];\n"), std::string::npos);
}

TEST(Graphviz, LinksPastTheEndAreDashed) {
    std::ostringstream out;
    write_graphviz(out,
                   machine_graph(Lattice{.lengths = {3, 1, 1}, .wrapped = {true}, .wrap_shift = {}},
                                 {1, 1, 1}, link_kinds()));
    EXPECT_EQ(times(out.str(), "[color=red3"), 3U);
    EXPECT_EQ(times(out.str(), "2->0 [color=red3,style=dashed];"), 1U);
    EXPECT_EQ(times(out.str(), "dashed"), 1U);
}

/// Two domains of 8 accelerators, each on its own
/// switch, and a Clos of two spines above the switches.
struct Switched {
    enum Kind : std::uint32_t { to_switch, to_chip, up, down };
    MachineGraph graph = build();

    static MachineGraph build() {
        const auto kind = [](LinkClass link_class, const char* name, double rate, double latency) {
            return LinkKind{link_class,
                            name,
                            {sim::BytesPerSecond(rate), "test"},
                            {sim::Seconds(latency), "test"},
                            false};
        };
        MachineBuilder builder({kind(LinkClass::ici, "to switch", 400e9, 1e-6),
                                kind(LinkClass::ici, "to chip", 400e9, 1e-6),
                                kind(LinkClass::dcn, "up", 50e9, 5e-6),
                                kind(LinkClass::dcn, "down", 50e9, 5e-6)});
        builder.add(VertexKind::chip, 16);
        const Vertex first = builder.add(VertexKind::fabric, 4);
        for (Vertex chip = 0; chip < 16; ++chip) {
            builder.link(chip, first + chip / 8, to_switch);
            builder.link(first + chip / 8, chip, to_chip);
        }
        for (Vertex leaf = first; leaf < first + 2; ++leaf) {
            for (Vertex spine = first + 2; spine < first + 4; ++spine) {
                builder.link(leaf, spine, up);
                builder.link(spine, leaf, down);
            }
        }
        return builder.build();
    }

    /// Returns the links of a shortest route, in its order.
    [[nodiscard]] std::vector<Edge> route(Vertex from, Vertex to) const {
        std::vector<Edge> into(num_vertices(graph));
        boost::breadth_first_search(
            graph, from,
            boost::visitor(boost::make_bfs_visitor(boost::record_edge_predecessors(
                boost::make_iterator_property_map(into.begin(), get(boost::vertex_index, graph)),
                boost::on_tree_edge()))));
        std::vector<Edge> links;
        for (Vertex at = to; at != from; at = source(links.back(), graph)) {
            links.push_back(into[at]);
        }
        std::ranges::reverse(links);
        return links;
    }

    /// Returns the time of one message alone: every link of the graph is a port of one place.
    [[nodiscard]] sim::Time send(Vertex from, Vertex to, double bytes) const {
        sim::Workload workload;
        workload.machine.ports = num_edges(graph);
        BGL_FORALL_EDGES(link, graph, MachineGraph) {
            workload.machine.links.push_back({kind_of(graph, link).rate.value,
                                              sim::round_up(kind_of(graph, link).latency.value)});
        }
        workload.machine.shifts = {0};
        sim::Schedule schedule;
        for (const Edge& link : route(from, to)) {
            schedule.hops.push_back(
                {0, static_cast<std::uint32_t>(get(boost::edge_index, graph, link))});
        }
        sim::Transfer transfer;
        transfer.hop_count = static_cast<std::uint32_t>(schedule.hops.size());
        transfer.bytes = sim::Bytes(bytes);
        schedule.transfers.push_back(transfer);
        schedule.roles.push_back({.first_transfer = 0, .transfer_count = 1, .arrivals = 1});
        schedule.role_of_place = {0};
        workload.schedules = std::vector<sim::Schedule>{schedule};
        workload.operations = {{}};
        workload.graphs = {
            {.tasks = {{.duration = {}, .operation = 0, .resource = 0, .after = {}}}}};
        workload.graph_of_place = {0};
        return sim::execute(workload).end;
    }
};

TEST(SwitchedMachine, RoutesThroughItsSwitches) {
    const Switched machine;
    const auto kinds = [&](Vertex from, Vertex to) {
        std::vector<int> along;
        for (const Edge& link : machine.route(from, to)) {
            along.push_back(machine.graph[link].kind);
        }
        return along;
    };
    EXPECT_EQ(kinds(0, 7), (std::vector<int>{Switched::to_switch, Switched::to_chip}));
    EXPECT_EQ(kinds(3, 12), (std::vector<int>{Switched::to_switch, Switched::up, Switched::down,
                                              Switched::to_chip}));
}

// 400 MB hold a link of a domain for 1 ms and one of the Clos for 8. The head reaches the third and
// fourth links after 1 + 5 and 1 + 5 + 5 us. The tail leaves the second at 8.001 ms, the third 5 us
// later, the fourth 5 us after that, and arrives after 1 us more.
TEST(SwitchedMachine, AMessageCutsThrough) {
    const Switched machine;
    EXPECT_EQ(machine.send(3, 12, 400e6).ps, 8'012'000'000);
    EXPECT_EQ(machine.send(0, 7, 400e6).ps, 1'002'000'000);
}

}  // namespace
}  // namespace podsim::topology
