#include "collectives/paths/group_graph.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "collectives/paths/factors.h"

namespace podsim::collectives {

GroupGraph::GroupGraph(const topology::Lattice& slice, const Group& group)
    : slice_(slice),
      whole_twisted_(spans_twisted_slice(slice, group)),
      group_(group),
      worth_(group.size(), 1),
      members_(group_size(group)) {
    // Along one axis the factor of larger stride counts more.
    for (std::size_t f = 0; f < group_.size(); ++f) {
        for (std::size_t other = 0; other < group_.size(); ++other) {
            const bool finer = group_[other].axis > group_[f].axis ||
                               (group_[other].axis == group_[f].axis && other < f);
            worth_[f] *= finer ? group_[other].length : 1;
        }
    }
    for (std::size_t f = 0; f < group_.size(); ++f) {
        const topology::AxisFactor& factor = group_[f];
        const bool ring = walked_as_ring(slice, group_, factor);
        ring_.push_back(ring);
        // Members of one group that lie between two neighbours share the links between them as
        // well.
        int sharers = factor.stride;
        for (std::size_t inner = 0; inner < f; ++inner) {
            sharers /= group_[inner].axis == factor.axis ? group_[inner].length : 1;
        }
        unit_ = std::lcm(unit_, sharers);
        for (int member = 0; member < members_; ++member) {
            for (const int direction : {1, -1}) {
                const int next = digit(member, f) + direction;
                if (!ring && (next < 0 || next >= factor.length)) {
                    continue;
                }
                const int around = (next + factor.length) % factor.length - digit(member, f);
                const int to =
                    whole_twisted_
                        ? slice.index(*slice.canonical(slice.point(member) +
                                                       topology::along(factor.axis, direction)))
                        : member + around * worth_[f];
                links_.push_back({member,
                                  to,
                                  {factor.axis, direction, factor.stride},
                                  static_cast<int>(f),
                                  sharers});
            }
        }
    }
}

int GroupGraph::member_of(const topology::Point& chip) const {
    int member = 0;
    for (std::size_t f = 0; f < group_.size(); ++f) {
        const int at = chip[static_cast<std::size_t>(group_[f].axis)];
        member += at / group_[f].stride % group_[f].length * worth_[f];
    }
    return member;
}

topology::Point GroupGraph::place_of(int member) const {
    topology::Point place{};
    for (std::size_t f = 0; f < group_.size(); ++f) {
        place = place + topology::along(group_[f].axis, digit(member, f) * group_[f].stride);
    }
    return place;
}

int GroupGraph::steps(int from, int to, int factor) const {
    const auto f = static_cast<std::size_t>(factor);
    const int difference = digit(to, f) - digit(from, f);
    return ring_[f] && difference < 0 ? difference + group_[f].length : difference;
}

std::vector<topology::Arc> GroupGraph::arcs() const {
    std::vector<topology::Arc> arcs;
    for (const GroupLink& link : links_) {
        arcs.push_back({link.from, link.to, unit_ / link.sharers});
    }
    return arcs;
}

int GroupGraph::links_into(int member) const {
    return static_cast<int>(std::ranges::count(links_, member, &GroupLink::to));
}

std::vector<int> GroupGraph::links_to(int target) const {
    std::vector<std::vector<const GroupLink*>> into(static_cast<std::size_t>(members_));
    for (const GroupLink& link : links_) {
        into[static_cast<std::size_t>(link.to)].push_back(&link);
    }
    constexpr int kFar = 1 << 30;
    std::vector<int> distance(into.size(), kFar);
    using Entry = std::pair<int, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[static_cast<std::size_t>(target)] = 0;
    queue.emplace(0, target);
    while (!queue.empty()) {
        const auto [here, member] = queue.top();
        queue.pop();
        for (const GroupLink* link : into[static_cast<std::size_t>(member)]) {
            int& there = distance[static_cast<std::size_t>(link->from)];
            if (here + link->leg.links < there) {
                there = here + link->leg.links;
                queue.emplace(there, link->from);
            }
        }
    }
    return distance;
}

Group whole_slice(const topology::Lattice& slice) {
    Group group;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if (slice.length(axis) > 1) {
            group.push_back({axis, 1, slice.length(axis)});
        }
    }
    return group;
}

topology::Lattice distinct_places(const topology::Lattice& slice, const Group& group) {
    if (slice.twisted()) {
        return slice;
    }
    topology::Lattice places{.lengths = {1, 1, 1}, .wrapped = {true, true, true}, .wrap_shift = {}};
    for (const topology::AxisFactor& factor : group) {
        const auto axis = static_cast<std::size_t>(factor.axis);
        places.wrapped[axis] = slice.wrapped[axis];
        places.lengths[axis] = slice.wrapped[axis]
                                   ? std::lcm(places.lengths[axis], factor.stride * factor.length)
                                   : slice.lengths[axis];
    }
    return places;
}

}  // namespace podsim::collectives
