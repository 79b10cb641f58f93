#include "collectives/paths/routes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace podsim::collectives {
namespace {

using topology::kAxes;
using topology::Point;

int length_of(const Point& p) {
    return std::abs(p[0]) + std::abs(p[1]) + std::abs(p[2]);
}

/// Adds a walk for every order of the axes that the displacement uses; they split `share` equally.
void add_orders(const Point& displacement, double share, std::vector<Route>& routes) {
    std::vector<Leg> legs;
    for (int axis = 0; axis < kAxes; ++axis) {
        const int steps = displacement[static_cast<std::size_t>(axis)];
        if (steps != 0) {
            legs.push_back({axis, steps > 0 ? 1 : -1, std::abs(steps)});
        }
    }
    const std::size_t first = routes.size();
    do {
        routes.push_back({legs, 0});
    } while (std::next_permutation(legs.begin(), legs.end(),
                                   [](const Leg& a, const Leg& b) { return a.axis < b.axis; }));
    for (std::size_t i = first; i < routes.size(); ++i) {
        routes[i].share = share / static_cast<double>(routes.size() - first);
    }
}

}  // namespace

int Route::links() const {
    return std::accumulate(legs.begin(), legs.end(), 0,
                           [](int sum, const Leg& leg) { return sum + leg.links; });
}

std::vector<Point> minimal_displacements(const topology::Lattice& slice,
                                         const Point& displacement) {
    // The displacement is reduced to less than a length on every wrapped axis; a minimal
    // representative is at most two lengths away on each.
    Point start = displacement;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        while (slice.wrapped[axis] && (start[axis] < 0 || start[axis] >= slice.lengths[axis])) {
            const int turn = start[axis] < 0 ? 1 : -1;
            start[axis] += turn * slice.lengths[axis];
            start = start - slice.wrap_shift[axis] * turn;
        }
    }
    std::vector<Point> best{start};
    const auto turns = [&](std::size_t axis) { return slice.wrapped[axis] ? 2 : 0; };
    for (int x = -turns(0); x <= turns(0); ++x) {
        for (int y = -turns(1); y <= turns(1); ++y) {
            for (int z = -turns(2); z <= turns(2); ++z) {
                const Point candidate =
                    start + topology::along(0, x * slice.lengths[0]) - slice.wrap_shift[0] * x +
                    topology::along(1, y * slice.lengths[1]) - slice.wrap_shift[1] * y +
                    topology::along(2, z * slice.lengths[2]) - slice.wrap_shift[2] * z;
                const int length = length_of(candidate);
                if (length < length_of(best.front())) {
                    best.clear();
                }
                if (best.empty() || length == length_of(best.front())) {
                    best.push_back(candidate);
                }
            }
        }
    }
    std::sort(best.begin(), best.end());
    best.erase(std::unique(best.begin(), best.end()), best.end());
    return best;
}

std::vector<Route> minimal_routes(const topology::Lattice& slice, const Point& displacement) {
    const std::vector<Point> minimal = minimal_displacements(slice, displacement);
    std::vector<Route> routes;
    for (const Point& candidate : minimal) {
        add_orders(candidate, 1.0 / static_cast<double>(minimal.size()), routes);
    }
    return routes;
}

std::vector<Route> ordered_routes(const Point& displacement) {
    std::vector<Route> routes;
    add_orders(displacement, 1, routes);
    return routes;
}

}  // namespace podsim::collectives
