// A group as a graph: its members and the links between them, for operations that are routed.
#pragma once

#include <vector>

#include "collectives/paths/routes.h"
#include "collectives/vocabulary/group.h"
#include "topology/graph/flow.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// A straight run of physical links from one member to the next along a factor.
struct GroupLink {
    int from = 0;
    int to = 0;
    Leg leg;          ///< `links` of the factor's stride
    int factor = 0;   ///< of the group
    int sharers = 1;  ///< groups that lie across each other and share its physical links
};

class GroupGraph {
public:
    /// Members are numbered as the slice numbers chips, z fastest: a member's rank.
    GroupGraph(const topology::Lattice& slice, const Group& group);

    [[nodiscard]] int members() const { return members_; }
    [[nodiscard]] const std::vector<GroupLink>& links() const { return links_; }
    /// Returns the member that a chip is in its group.
    [[nodiscard]] int member_of(const topology::Point& chip) const;
    /// Returns the displacement of a member from the member 0 of its group.
    [[nodiscard]] topology::Point place_of(int member) const;

    /// Returns links as arcs. Capacities are in units of 1 / unit() of a physical link's rate.
    [[nodiscard]] std::vector<topology::Arc> arcs() const;
    [[nodiscard]] int unit() const { return unit_; }

    [[nodiscard]] int factors() const { return static_cast<int>(group_.size()); }
    /// Returns the steps along a factor from one member to another: on a ring forward, on a line
    /// signed.
    [[nodiscard]] int steps(int from, int to, int factor) const;

    /// Returns the number of links into a member, and also of those away from it.
    [[nodiscard]] int links_into(int member) const;
    /// Returns the links on the shortest route from each member to `target`.
    [[nodiscard]] std::vector<int> links_to(int target) const;

private:
    [[nodiscard]] int digit(int member, std::size_t factor) const {
        return member / worth_[factor] % group_[factor].length;
    }

    topology::Lattice slice_;
    bool whole_twisted_;
    Group group_;
    std::vector<bool> ring_;
    std::vector<int> worth_;  ///< ranks in one step along each factor
    int members_ = 1;
    int unit_ = 1;
    std::vector<GroupLink> links_;
};

/// Returns the group of all chips of a slice.
Group whole_slice(const topology::Lattice& slice);

/// Returns the positions that differ if an operation is not the same for every member. Axes in use
/// do not fold within a group, other axes fold to 1, and twisted slices do not fold.
/// (topology::fold is for members that are alike.)
topology::Lattice distinct_places(const topology::Lattice& slice, const Group& group);

}  // namespace podsim::collectives
