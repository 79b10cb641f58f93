#include "topology/graph/metrics.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <vector>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/iteration_macros.hpp>

namespace podsim::topology {
namespace {

constexpr int kNotReached = -1;

/// The machine's torus without its dead links.
using Torus = boost::filtered_graph<MachineGraph, LiveLinks>;

/// Returns the hops to every vertex.
std::vector<int> hops_from(int chip, const Torus& torus) {
    std::vector<int> hops(num_vertices(torus), kNotReached);
    hops[static_cast<std::size_t>(chip)] = 0;
    boost::breadth_first_search(
        torus, static_cast<Vertex>(chip),
        boost::visitor(boost::make_bfs_visitor(boost::record_distances(
            boost::make_iterator_property_map(hops.begin(), get(boost::vertex_index, torus)),
            boost::on_tree_edge()))));
    return hops;
}

/// Adds the distances from one chip.
void add_from(int chip, const Torus& torus, Distances& total) {
    for (const int hops : hops_from(chip, torus)) {
        if (hops != kNotReached) {
            total.sum += hops;
            total.largest = std::max(total.largest, hops);
            ++total.pairs;
        }
    }
}

/// True if searches start at the chip. A translation along a wrapped axis maps the slice onto
/// itself, so the coordinate there must be 0.
bool is_source(const Lattice& slice, int chip) {
    const Point at = slice.point(chip);
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        if (slice.wrapped[axis] && at[axis] > 0) {
            return false;
        }
    }
    return true;
}

/// Returns the undirected links between the halves of an axis of even length; the first half begins
/// at `first`.
int links_across(const Torus& torus, const Lattice& slice, std::size_t axis, int first) {
    const int length = slice.lengths[axis];
    const auto upper = [&](Vertex chip) {
        return (slice.point(static_cast<int>(chip))[axis] - first + length) % length >= length / 2;
    };
    int directed = 0;
    for (int chip = 0; chip < slice.size(); ++chip) {
        BGL_FORALL_OUTEDGES(static_cast<Vertex>(chip), link, torus, Torus) {
            directed += upper(source(link, torus)) != upper(target(link, torus)) ? 1 : 0;
        }
    }
    return directed / 2;
}

/// Returns the distances within one slice, and sets the size of its largest connected component.
Distances distances_with_dead_links(const Lattice& slice, const DeadLinks& dead,
                                    int& largest_part) {
    const MachineGraph graph = torus_graph(slice);
    const Torus torus(graph, LiveLinks{&graph, &dead});
    Distances total;
    for (int chip = 0; chip < slice.size(); ++chip) {
        const std::int64_t before = total.pairs;
        add_from(chip, torus, total);
        largest_part = std::max(largest_part, static_cast<int>(total.pairs - before));
    }
    return total;
}

}  // namespace

Distances distances_by_search(const Lattice& slice) {
    const MachineGraph graph = torus_graph(slice);
    const DeadLinks none;
    const Torus torus(graph, LiveLinks{&graph, &none});
    Distances total;
    std::int64_t sources = 0;
    for (int chip = 0; chip < slice.size(); ++chip) {
        if (is_source(slice, chip)) {
            add_from(chip, torus, total);
            ++sources;
        }
    }
    total.sum *= slice.size() / sources;
    total.pairs *= slice.size() / sources;
    return total;
}

Distances distances_by_axes(const Lattice& slice) {
    assert(!slice.twisted());
    Distances total;
    total.pairs = std::int64_t{slice.size()} * slice.size();
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

TopologyMetrics measure(const MachineGraph& machine, const DeadLinks& dead) {
    const Torus torus(machine, LiveLinks{&machine, &dead});
    const Lattice& slice = record(machine).places.chips;
    TopologyMetrics metrics;
    metrics.chips = count_of(machine, VertexKind::chip);
    metrics.hosts = count_of(machine, VertexKind::host);
    // num_edges of a filtered graph also counts the edges that are filtered out.
    const auto [first, last] = edges(torus);
    metrics.ici_links = static_cast<int>(std::distance(first, last) / 2);
    metrics.wrapped = slice.wrapped;
    int largest_part = dead.axes() != 0 ? 0 : slice.size();
    const bool searchable = slice.twisted() || slice.wrapped == std::array{true, true, true};
    const Distances distances = dead.axes() != 0
                                    ? distances_with_dead_links(slice, dead, largest_part)
                                : searchable ? distances_by_search(slice)
                                             : distances_by_axes(slice);
    metrics.diameter_hops = distances.largest;
    metrics.mean_hops = static_cast<double>(distances.sum) / slice.size() /
                        (static_cast<double>(distances.pairs) / slice.size());
    metrics.chips_cut_off = slice.size() - largest_part;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        if (slice.lengths[axis] % 2 == 0) {
            // If all links are alive, every cut of a wrapped axis has as many.
            const bool unlike = slice.wrapped[axis] && dead.axes() != 0;
            for (int cut = 0; cut < (unlike ? slice.lengths[axis] / 2 : 1); ++cut) {
                const int links = links_across(torus, slice, axis, cut);
                metrics.bisection_links = std::min(metrics.bisection_links.value_or(links), links);
            }
        }
    }
    return metrics;
}

}  // namespace podsim::topology
