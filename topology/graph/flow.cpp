#include "topology/graph/flow.h"

#include <algorithm>
#include <deque>
#include <limits>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

namespace podsim::topology {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

constexpr int kFar = std::numeric_limits<int>::max() / 2;

/// Adds one more shortest path to those whose arcs are `used`. Returns false if there is none.
bool augment(int nodes, std::span<const Arc> arcs, int source, int sink, std::vector<bool>& used) {
    // Bellman-Ford with a queue: an arc in use can be given back, at the cost of -1.
    std::vector<std::vector<int>> at(static_cast<std::size_t>(nodes));
    for (std::size_t a = 0; a < arcs.size(); ++a) {
        at[static_cast<std::size_t>(used[a] ? arcs[a].to : arcs[a].from)].push_back(
            static_cast<int>(a));
    }
    std::vector<int> cost(static_cast<std::size_t>(nodes), kFar);
    std::vector<int> by(static_cast<std::size_t>(nodes), -1);
    std::vector<bool> queued(static_cast<std::size_t>(nodes));
    std::deque<int> queue{source};
    cost[static_cast<std::size_t>(source)] = 0;
    while (!queue.empty()) {
        const auto node = static_cast<std::size_t>(queue.front());
        queue.pop_front();
        queued[node] = false;
        for (const int arc : at[node]) {
            const auto a = static_cast<std::size_t>(arc);
            const auto next = static_cast<std::size_t>(used[a] ? arcs[a].from : arcs[a].to);
            const int through = cost[node] + (used[a] ? -1 : 1);
            if (through < cost[next]) {
                cost[next] = through;
                by[next] = arc;
                if (!queued[next]) {
                    queued[next] = true;
                    queue.push_back(static_cast<int>(next));
                }
            }
        }
    }
    if (cost[static_cast<std::size_t>(sink)] == kFar) {
        return false;
    }
    for (int node = sink; node != source;) {
        const auto a = static_cast<std::size_t>(by[static_cast<std::size_t>(node)]);
        node = used[a] ? arcs[a].to : arcs[a].from;
        used[a] = !used[a];
    }
    return true;
}

/// Returns the arcs in use as paths. They hold no cycle, since their number is minimal.
std::vector<Way> ways_of(int nodes, std::span<const Arc> arcs, int source, int sink,
                         const std::vector<bool>& used) {
    std::vector<std::vector<int>> out(static_cast<std::size_t>(nodes));
    for (std::size_t a = arcs.size(); a-- > 0;) {
        if (used[a]) {
            out[static_cast<std::size_t>(arcs[a].from)].push_back(static_cast<int>(a));
        }
    }
    std::vector<Way> ways;
    while (!out[static_cast<std::size_t>(source)].empty()) {
        Way& way = ways.emplace_back();
        for (int node = source; node != sink;) {
            std::vector<int>& from_here = out[static_cast<std::size_t>(node)];
            way.push_back(from_here.back());
            from_here.pop_back();
            node = arcs[static_cast<std::size_t>(way.back())].to;
        }
    }
    std::ranges::stable_sort(ways, {}, [](const Way& way) { return way.size(); });
    return ways;
}

}  // namespace

Flow max_flow(int nodes, std::span<const Arc> arcs, int source, int sink) {
    FlowGraph graph(static_cast<std::size_t>(nodes));
    const auto capacity = boost::get(boost::edge_capacity, graph);
    const auto residual = boost::get(boost::edge_residual_capacity, graph);
    const auto reverse = boost::get(boost::edge_reverse, graph);
    std::vector<Traits::edge_descriptor> forward;
    for (const Arc& arc : arcs) {
        const auto from = static_cast<std::size_t>(arc.from);
        const auto to = static_cast<std::size_t>(arc.to);
        forward.push_back(boost::add_edge(from, to, graph).first);
        const auto back = boost::add_edge(to, from, graph).first;
        capacity[forward.back()] = arc.capacity;
        capacity[back] = 0;
        reverse[forward.back()] = back;
        reverse[back] = forward.back();
    }
    Flow flow;
    flow.value = boost::push_relabel_max_flow(graph, static_cast<std::size_t>(source),
                                              static_cast<std::size_t>(sink));
    for (std::size_t a = 0; a < arcs.size(); ++a) {
        flow.on_arc.push_back(arcs[a].capacity - residual[forward[a]]);
    }
    flow.source_side.assign(static_cast<std::size_t>(nodes), false);
    flow.source_side[static_cast<std::size_t>(source)] = true;
    std::vector<std::size_t> reached{static_cast<std::size_t>(source)};
    while (!reached.empty()) {
        const std::size_t node = reached.back();
        reached.pop_back();
        for (auto [edge, end] = boost::out_edges(node, graph); edge != end; ++edge) {
            const std::size_t next = boost::target(*edge, graph);
            if (residual[*edge] > 0 && !flow.source_side[next]) {
                flow.source_side[next] = true;
                reached.push_back(next);
            }
        }
    }
    return flow;
}

std::vector<std::vector<Way>> disjoint_ways(int nodes, std::span<const Arc> arcs, int source,
                                            int sink) {
    std::vector<std::vector<Way>> by_count;
    std::vector<bool> used(arcs.size());
    while (augment(nodes, arcs, source, sink, used)) {
        by_count.push_back(ways_of(nodes, arcs, source, sink, used));
    }
    return by_count;
}

}  // namespace podsim::topology
