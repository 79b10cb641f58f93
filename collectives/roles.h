// Roles: the places of a group that behave differently. Members of a ring are alike; those of a line
// differ by their position, so a role is a position on every line factor of the group.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "collectives/operation.h"
#include "topology/lattice.h"

namespace podsim::collectives {

class Roles {
public:
    /// Keeps references to neither argument.
    Roles(const topology::Lattice& slice, const Group& group);

    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] bool ring(int factor) const { return ring_[static_cast<std::size_t>(factor)]; }

    /// The coordinate of a role along a line factor.
    [[nodiscard]] int position(std::uint32_t role, int factor) const;
    /// The role of the next member along a factor; nothing beyond the end of a line.
    [[nodiscard]] std::optional<std::uint32_t> neighbour(std::uint32_t role, int factor,
                                                         int direction) const;
    /// The role of a chip.
    [[nodiscard]] std::uint32_t of(const topology::Point& chip) const;

    /// Calls back for every other member of the group, with its displacement from a member of this
    /// role (not reduced: 0 .. length - 1 steps along ring factors) and its role.
    void for_each_other(
        std::uint32_t role,
        const std::function<void(const topology::Point&, std::uint32_t)>& visit) const;

private:
    Group group_;
    std::vector<bool> ring_;
    std::vector<std::uint32_t> unit_;  ///< of a position in the role's number; 0 for rings
    std::uint32_t count_ = 1;
};

}  // namespace podsim::collectives
