// Roles: the places of a group that behave differently. Members of a ring are alike. Members of a
// line differ by their position, so a role is a position on every line factor of the group.
//
// With dead links on the group's axes, every place is a role of its own. A ring with a dead link is
// a line that begins behind it; messages take a detour round other dead links (rings.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "topology/lattice/dead_links.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

class Roles {
public:
    /// Keeps references to none of the arguments. `each_member`: members of a ring are roles of
    /// their own, too.
    Roles(const topology::Lattice& slice, const Group& group,
          const topology::DeadLinks& dead_links = {}, bool each_member = false);

    [[nodiscard]] std::uint32_t count() const { return count_; }
    /// True if the factor is a ring for every place.
    [[nodiscard]] bool ring(int factor) const { return ring_[static_cast<std::size_t>(factor)]; }
    /// True if the factor is a ring for the places of a role.
    [[nodiscard]] bool ring(std::uint32_t role, int factor) const {
        return own_.empty() ? ring(factor) : own(role, factor).ring;
    }
    /// True if every place is a role, numbered as the places are.
    [[nodiscard]] bool by_place() const { return !own_.empty(); }

    /// Returns the coordinate of a role along a line factor.
    [[nodiscard]] int position(std::uint32_t role, int factor) const;
    /// Returns the role of the next member along a factor; nothing beyond the end of a line.
    [[nodiscard]] std::optional<std::uint32_t> neighbour(std::uint32_t role, int factor,
                                                         int direction) const;
    /// Returns the role of the chip at the same position `ranks` slices further round the factor.
    [[nodiscard]] std::uint32_t in_slice(std::uint32_t role, const topology::SliceFactor& across,
                                         int ranks) const;
    /// Returns the role of a place.
    [[nodiscard]] std::uint32_t of(const topology::Places& places, int place) const {
        return by_place() ? static_cast<std::uint32_t>(place) : of(places.point(place));
    }
    /// Returns the role of a chip, if places are not roles of their own.
    [[nodiscard]] std::uint32_t of(const topology::Point& chip) const;

    /// Calls `visit` for every other member of the group, with its displacement from a member of
    /// this role (not reduced: 0 .. length - 1 steps along ring factors) and its role.
    void for_each_other(
        std::uint32_t role,
        const std::function<void(const topology::Point&, std::uint32_t)>& visit) const;

private:
    /// The form and position of one place along one factor.
    struct Own {
        bool ring = false;
        int position = 0;
    };
    [[nodiscard]] const Own& own(std::uint32_t role, int factor) const {
        return own_[role * group_.size() + static_cast<std::size_t>(factor)];
    }
    [[nodiscard]] Own find_own(const topology::DeadLinks& dead_links, int place,
                               std::size_t factor) const;

    Group group_;
    std::vector<bool> ring_;
    /// Step of a position in the role's number; 0 if members are alike.
    std::vector<std::uint32_t> unit_;
    std::uint32_t count_ = 1;
    std::vector<Own> own_;  ///< [place][factor], with dead links
    /// Set for a group of a whole twisted slice if every member is a role: there a ring along one
    /// axis moves along others.
    std::optional<topology::Lattice> twisted_;
    topology::Places places_;
};

}  // namespace podsim::collectives
