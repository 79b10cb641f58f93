#include "collectives/algorithms/member_loads.h"

#include <algorithm>

#include "collectives/paths/group_graph.h"

namespace podsim::collectives {
namespace {

/// Which member the places of a role are, where every member is a role of its own.
std::vector<int> member_of_role(const CollectiveCall& call, const Roles& roles) {
    const GroupGraph graph(call.slice, call.group());
    std::vector<int> members(roles.count());
    for (int chip = 0; chip < call.slice.size(); ++chip) {
        const topology::Point point = call.slice.point(chip);
        members[roles.of(point)] = graph.member_of(point);
    }
    return members;
}

}  // namespace

Roles roles_of_all_to_all(const CollectiveCall& call) {
    return {call.slice, call.group(), {}, !call.ends.loads.empty()};
}

MemberLoads::MemberLoads(const CollectiveCall& call, const Roles& roles)
    : returning_(call.ends.returning) {
    if (!call.ends.loads.empty()) {
        for (const int member : member_of_role(call, roles)) {
            of_role_.push_back(call.ends.loads[static_cast<std::size_t>(member)]);
        }
    }
}

double MemberLoads::most() const {
    return of_role_.empty() ? 1 : *std::ranges::max_element(of_role_);
}

}  // namespace podsim::collectives
