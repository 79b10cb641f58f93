#include "topology/graph/metrics.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <vector>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/iteration_macros.hpp>

#include "topology/graph/lattice_graph.h"
#include "topology/lattice/hosts.h"

namespace podsim::topology {
namespace {

std::vector<int> hops_from(int chip, const LatticeGraph& graph) {
    std::vector<int> hops(num_vertices(graph), 0);
    boost::breadth_first_search(
        graph, chip,
        boost::visitor(boost::make_bfs_visitor(boost::record_distances(
            boost::make_iterator_property_map(hops.begin(), get(boost::vertex_index, graph)),
            boost::on_tree_edge()))));
    return hops;
}

/// Undirected links between the lower and the upper half of an axis of even length.
int links_across(const LatticeGraph& graph, std::size_t axis) {
    const Lattice& slice = graph.lattice();
    const auto upper = [&](int chip) { return slice.point(chip)[axis] >= slice.lengths[axis] / 2; };
    int directed = 0;
    BGL_FORALL_EDGES(link, graph, LatticeGraph) {
        directed += upper(source(link, graph)) != upper(target(link, graph)) ? 1 : 0;
    }
    return directed / 2;
}

}  // namespace

Distances distances_by_search(const Lattice& slice) {
    const LatticeGraph graph(slice);
    Distances total;
    std::int64_t sources = 0;
    for (int chip = 0; chip < slice.size(); ++chip) {
        const Point p = slice.point(chip);
        // A translation along a wrapped axis maps the slice onto itself: start where it is 0.
        if ((slice.wrapped[0] && p[0] > 0) || (slice.wrapped[1] && p[1] > 0) ||
            (slice.wrapped[2] && p[2] > 0)) {
            continue;
        }
        const std::vector<int> hops = hops_from(chip, graph);
        total.sum += std::accumulate(hops.begin(), hops.end(), std::int64_t{0});
        total.largest = std::max(total.largest, std::ranges::max(hops));
        ++sources;
    }
    total.sum *= slice.size() / sources;
    return total;
}

Distances distances_by_axes(const Lattice& slice) {
    assert(!slice.twisted());
    Distances total;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        const int length = slice.lengths[axis];
        const Distances alone = distances_by_search(
            Lattice{.lengths = {length, 1, 1}, .wrapped = {slice.wrapped[axis]}, .wrap_shift = {}});
        // Every pair of coordinates on this axis stands for all pairs on the other two.
        const std::int64_t others = slice.size() / length;
        total.sum += alone.sum * others * others;
        total.largest += alone.largest;
    }
    return total;
}

TopologyMetrics measure(const Lattice& slice, const Point& host_shape) {
    const LatticeGraph graph(slice);
    TopologyMetrics metrics;
    metrics.chips = slice.size();
    metrics.hosts = Hosts(slice, host_shape).count();
    metrics.ici_links = static_cast<int>(num_edges(graph) / 2);
    metrics.wrapped = slice.wrapped;
    const bool searchable = slice.twisted() || slice.wrapped == std::array{true, true, true};
    const Distances distances = searchable ? distances_by_search(slice) : distances_by_axes(slice);
    metrics.diameter_hops = distances.largest;
    metrics.mean_hops = static_cast<double>(distances.sum) / metrics.chips / metrics.chips;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        if (slice.lengths[axis] % 2 == 0) {
            const int links = links_across(graph, axis);
            metrics.bisection_links = std::min(metrics.bisection_links.value_or(links), links);
        }
    }
    return metrics;
}

}  // namespace podsim::topology
