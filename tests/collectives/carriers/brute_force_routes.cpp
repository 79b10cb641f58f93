#include "tests/collectives/carriers/brute_force_routes.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace podsim::collectives {
namespace {

using topology::Point;

/// Returns the links of one displacement with its axes in the given order; nothing if it leaves the
/// slice or ends elsewhere.
std::optional<std::vector<Crossing>> follow(const topology::Lattice& slice, const Point& from,
                                            const Point& to, const Point& displacement,
                                            const std::vector<int>& order) {
    std::vector<Crossing> crossings;
    Point at = from;
    for (const int axis : order) {
        const int steps = displacement[static_cast<std::size_t>(axis)];
        const int direction = steps < 0 ? -1 : 1;
        for (int i = 0; i < std::abs(steps); ++i) {
            const std::optional<Point> next = walked(slice, at, axis, direction);
            if (!next) {
                return std::nullopt;
            }
            crossings.push_back({at, axis, direction});
            at = *next;
        }
    }
    return at == to ? std::optional(crossings) : std::nullopt;
}

/// Returns all orders of the axes that a displacement
/// uses; none if it does not lead to the destination.
std::vector<Walk> walks_of(const topology::Lattice& slice, const Point& from, const Point& to,
                           const Point& displacement) {
    std::vector<int> order;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if (displacement[static_cast<std::size_t>(axis)] != 0) {
            order.push_back(axis);
        }
    }
    std::vector<Walk> walks;
    do {
        if (const auto crossings = follow(slice, from, to, displacement, order)) {
            walks.push_back({*crossings, 1});
        }
    } while (std::ranges::next_permutation(order).found);
    for (Walk& walk : walks) {
        walk.share = 1.0 / static_cast<double>(walks.size());
    }
    return walks;
}

/// Tries every displacement that is no longer than the box,
/// and keeps the shortest that lead to the destination.
std::vector<Walk> shortest_walks(const topology::Lattice& slice, const Point& from,
                                 const Point& to) {
    std::vector<std::vector<Walk>> best;
    std::size_t least = 0;
    const Point& most = slice.lengths;
    for (int x = -most[0]; x <= most[0]; ++x) {
        for (int y = -most[1]; y <= most[1]; ++y) {
            for (int z = -most[2]; z <= most[2]; ++z) {
                const auto links =
                    static_cast<std::size_t>(std::abs(x) + std::abs(y) + std::abs(z));
                if (!best.empty() && links > least) {
                    continue;
                }
                std::vector<Walk> walks = walks_of(slice, from, to, {x, y, z});
                if (walks.empty()) {
                    continue;
                }
                if (best.empty() || links < least) {
                    best.clear();
                    least = links;
                }
                best.push_back(std::move(walks));
            }
        }
    }
    std::vector<Walk> all;
    for (const std::vector<Walk>& walks : best) {
        for (const Walk& walk : walks) {
            all.push_back({walk.crossings, 1.0 / static_cast<double>(best.size()) /
                                               static_cast<double>(walks.size())});
        }
    }
    return all;
}

int digit(const Point& chip, const topology::AxisFactor& f) {
    return chip[static_cast<std::size_t>(f.axis)] / f.stride % f.length;
}

/// Returns all coordinates along the factors; the first factor varies fastest.
std::vector<std::vector<int>> all_digits(const Group& group) {
    std::vector<std::vector<int>> list{{}};
    for (const topology::AxisFactor& f : group) {
        std::vector<std::vector<int>> longer;
        for (int d = 0; d < f.length; ++d) {
            for (std::vector<int> digits : list) {
                digits.push_back(d);
                longer.push_back(digits);
            }
        }
        list = std::move(longer);
    }
    return list;
}

}  // namespace

bool is_plain_ring(const topology::Lattice& slice, const topology::AxisFactor& factor) {
    const auto axis = static_cast<std::size_t>(factor.axis);
    return slice.wrapped[axis] && slice.wrap_shift[axis] == Point{} &&
           factor.stride * factor.length == slice.lengths[axis];
}

std::optional<Point> walked(const topology::Lattice& slice, Point chip, int axis, int distance,
                            bool past_edges) {
    const auto a = static_cast<std::size_t>(axis);
    const int direction = distance < 0 ? -1 : 1;
    for (int i = 0; i < std::abs(distance); ++i) {
        chip[a] += direction;
        if (chip[a] >= 0 && chip[a] < slice.lengths[a]) {
            continue;
        }
        if (!slice.wrapped[a] && !past_edges) {
            return std::nullopt;
        }
        chip[a] -= direction * slice.lengths[a];
        // The axes that a wrap shifts wrap straight themselves.
        for (std::size_t b = 0; b < topology::kAxes; ++b) {
            const int length = slice.lengths[b];
            chip[b] = (chip[b] + direction * slice.wrap_shift[a][b] + length) % length;
        }
    }
    return chip;
}

std::vector<Pair> pairs_of(const topology::Lattice& slice, const Group& group, bool one_way) {
    const bool whole_twisted = slice.twisted() && group_size(group) == slice.size();
    const auto ring = [&](const topology::AxisFactor& f) {
        return whole_twisted || is_plain_ring(slice, f);
    };
    const std::vector<std::vector<int>> digits = all_digits(group);
    // Numbers the displacements from the first chip at each position on the lines.
    std::map<Point, int> numbers;
    std::vector<Pair> pairs;
    const auto meet = [&](const Point& chip, bool write) {
        for (const std::vector<int>& to : digits) {
            Point displacement{};
            Point end = chip;
            for (std::size_t f = 0; f < group.size(); ++f) {
                const int here = digit(chip, group[f]);
                const int steps = ring(group[f]) ? to[f] : to[f] - here;
                const int there = ring(group[f]) ? (here + to[f]) % group[f].length : to[f];
                displacement =
                    displacement + topology::along(group[f].axis, steps * group[f].stride);
                end = end + topology::along(group[f].axis, (there - here) * group[f].stride);
            }
            if (whole_twisted) {
                end = chip;
                for (int axis = 0; axis < topology::kAxes; ++axis) {
                    end = *walked(slice, end, axis, displacement[static_cast<std::size_t>(axis)]);
                }
            }
            if (end == chip) {
                continue;
            }
            const int number =
                numbers.try_emplace(displacement, static_cast<int>(numbers.size())).first->second;
            if (write) {
                pairs.push_back({chip, number,
                                 one_way ? walks_of(slice, chip, end, displacement)
                                         : shortest_walks(slice, chip, end)});
            }
        }
    };
    for (const std::vector<int>& at : digits) {
        Point chip{};
        bool first = true;
        for (std::size_t f = 0; f < group.size(); ++f) {
            first = first && (!ring(group[f]) || at[f] == 0);
            chip = chip + topology::along(group[f].axis, at[f] * group[f].stride);
        }
        if (first) {
            meet(chip, false);
        }
    }
    for (int i = 0; i < slice.size(); ++i) {
        meet(slice.point(i), true);
    }
    return pairs;
}

}  // namespace podsim::collectives
