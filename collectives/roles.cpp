#include "collectives/roles.h"

#include "collectives/algorithm.h"

namespace podsim::collectives {

Roles::Roles(const topology::Lattice& slice, const Group& group) : group_(group) {
    const bool whole = spans_twisted_slice(slice, group);
    for (const topology::AxisFactor& factor : group_) {
        ring_.push_back(whole || factor_kind(slice, factor).ring);
        unit_.push_back(ring_.back() ? 0 : count_);
        count_ *= ring_.back() ? 1 : static_cast<std::uint32_t>(factor.length);
    }
}

int Roles::position(std::uint32_t role, int factor) const {
    const auto f = static_cast<std::size_t>(factor);
    return static_cast<int>(role / unit_[f] % static_cast<std::uint32_t>(group_[f].length));
}

std::optional<std::uint32_t> Roles::neighbour(std::uint32_t role, int factor, int direction) const {
    const auto f = static_cast<std::size_t>(factor);
    if (ring_[f]) {
        return role;
    }
    const int next = position(role, factor) + direction;
    if (next < 0 || next >= group_[f].length) {
        return std::nullopt;
    }
    return direction > 0 ? role + unit_[f] : role - unit_[f];
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
        std::uint32_t other = 0;
        bool self = true;
        for (std::size_t f = 0; f < group_.size(); ++f) {
            const int steps = ring_[f] ? at[f] : at[f] - position(role, static_cast<int>(f));
            self = self && steps == 0;
            displacement = displacement + topology::along(group_[f].axis, steps * group_[f].stride);
            other += unit_[f] * static_cast<std::uint32_t>(at[f]);
        }
        if (!self) {
            visit(displacement, other);
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
