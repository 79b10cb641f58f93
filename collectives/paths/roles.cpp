#include "collectives/paths/roles.h"

#include "collectives/paths/factors.h"

namespace podsim::collectives {

Roles::Roles(const topology::Lattice& slice, const Group& group,
             const topology::DeadLinks& dead_links, bool each_member)
    : group_(group) {
    const bool whole = spans_twisted_slice(slice, group);
    for (const topology::AxisFactor& factor : group_) {
        ring_.push_back(walked_as_ring(slice, group, factor));
        const bool alike = ring_.back() && !each_member;
        unit_.push_back(alike ? 0 : count_);
        count_ *= alike ? 1 : static_cast<std::uint32_t>(factor.length);
    }
    if (whole && each_member) {
        twisted_ = slice;
    }
    unsigned axes = 0;
    for (const topology::AxisFactor& factor : group_) {
        axes |= 1U << factor.axis;
    }
    if ((axes & dead_links.axes()) == 0) {
        return;
    }
    places_ = dead_links.places();
    count_ = static_cast<std::uint32_t>(places_.size());
    own_.reserve(count_ * group_.size());
    for (int place = 0; place < places_.size(); ++place) {
        for (std::size_t f = 0; f < group_.size(); ++f) {
            own_.push_back(find_own(dead_links, place, f));
        }
    }
    for (std::size_t i = 0; i < own_.size(); ++i) {
        ring_[i % group_.size()] = ring_[i % group_.size()] && own_[i].ring;
    }
}

/// A ring is cut at its first dead link, counted from the member 0.
Roles::Own Roles::find_own(const topology::DeadLinks& dead_links, int place,
                           std::size_t factor) const {
    const topology::AxisFactor& f = group_[factor];
    const auto axis = static_cast<std::size_t>(f.axis);
    topology::Point chip = places_.point(place);
    const int rank = chip[axis] / f.stride % f.length;
    if (!ring_[factor]) {
        return {false, rank};
    }
    const int slice = places_.slice_of(place);
    chip[axis] -= rank * f.stride;
    for (int link = 0; link < f.length * f.stride; ++link) {
        const topology::Point from = *places_.chips.canonical(chip + topology::along(f.axis, link));
        if (dead_links.blocked(places_.index(from, slice), f.axis, 1)) {
            const int first = link / f.stride + 1;
            return {false, (rank - first + f.length) % f.length};
        }
    }
    return {true, rank};
}

int Roles::position(std::uint32_t role, int factor) const {
    const auto f = static_cast<std::size_t>(factor);
    if (by_place()) {
        return own(role, factor).position;
    }
    return static_cast<int>(role / unit_[f] % static_cast<std::uint32_t>(group_[f].length));
}

std::optional<std::uint32_t> Roles::neighbour(std::uint32_t role, int factor, int direction) const {
    const auto f = static_cast<std::size_t>(factor);
    if (ring(role, factor) && !by_place()) {
        return role;
    }
    const int next = position(role, factor) + direction;
    if (!ring(role, factor) && (next < 0 || next >= group_[f].length)) {
        return std::nullopt;
    }
    if (by_place()) {
        const int place = static_cast<int>(role);
        const topology::Point there =
            places_.point(place) + topology::along(group_[f].axis, direction * group_[f].stride);
        return static_cast<std::uint32_t>(
            places_.index(*places_.chips.canonical(there), places_.slice_of(place)));
    }
    return direction > 0 ? role + unit_[f] : role - unit_[f];
}

std::uint32_t Roles::in_slice(std::uint32_t role, const topology::SliceFactor& across,
                              int ranks) const {
    if (!by_place()) {
        return role;
    }
    const int place = static_cast<int>(role);
    const int slice =
        places_.slices == 1 ? 0 : topology::slice_at(across, places_.slice_of(place), ranks);
    return static_cast<std::uint32_t>(places_.index(places_.point(place), slice));
}

std::uint32_t Roles::of(const topology::Point& chip) const {
    std::uint32_t role = 0;
    for (std::size_t f = 0; f < group_.size(); ++f) {
        const int coordinate =
            chip[static_cast<std::size_t>(group_[f].axis)] / group_[f].stride % group_[f].length;
        role += unit_[f] * static_cast<std::uint32_t>(coordinate);
    }
    return role;
}

void Roles::for_each_other(
    std::uint32_t role,
    const std::function<void(const topology::Point&, std::uint32_t)>& visit) const {
    std::vector<int> at(group_.size(), 0);  // steps along rings, positions on lines
    while (true) {
        topology::Point displacement{};
        topology::Point place{};
        std::uint32_t other = 0;
        bool self = true;
        for (std::size_t f = 0; f < group_.size(); ++f) {
            const int here = unit_[f] == 0 ? 0 : position(role, static_cast<int>(f));
            const int steps = ring_[f] ? at[f] : at[f] - here;
            const int there = ring_[f] ? (here + at[f]) % group_[f].length : at[f];
            self = self && steps == 0;
            displacement = displacement + topology::along(group_[f].axis, steps * group_[f].stride);
            place = place + topology::along(group_[f].axis, (here + steps) * group_[f].stride);
            other += unit_[f] * static_cast<std::uint32_t>(there);
        }
        if (!self) {
            visit(displacement, twisted_ ? of(*twisted_->canonical(place)) : other);
        }
        std::size_t f = 0;
        while (f < group_.size() && ++at[f] == group_[f].length) {
            at[f++] = 0;
        }
        if (f == group_.size()) {
            return;
        }
    }
}

}  // namespace podsim::collectives
