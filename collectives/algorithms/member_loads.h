// What goes between two members of an AllToAll of unequal members.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/paths/roles.h"
#include "collectives/vocabulary/collective_call.h"

namespace podsim::collectives {

/// The roles of an AllToAll: every member is one where they are unequal.
Roles roles_of_all_to_all(const CollectiveCall& call);

class MemberLoads {
public:
    MemberLoads(const CollectiveCall& call, const Roles& roles);

    /// Over the mean of all pairs.
    [[nodiscard]] double between(std::uint32_t from, std::uint32_t to) const {
        return of_role_.empty() ? 1 : of_role_[returning_ ? from : to];
    }
    [[nodiscard]] double most() const;

private:
    std::vector<double> of_role_;
    bool returning_;
};

}  // namespace podsim::collectives
