#include "collectives/catalogue/end_traffic.h"

#include <algorithm>

#include "collectives/algorithms/permute.h"
#include "collectives/paths/group_graph.h"

namespace podsim::collectives {

EndTraffic end_traffic(Operation operation, const topology::Lattice& slice, const Group& group,
                       sim::Bytes v, const Ends& ends) {
    const bool send = operation == Operation::send;
    const GroupGraph graph(slice, send ? whole_slice(slice) : group);
    const int n = graph.members();
    if (operation == Operation::permute) {
        return {v / n, 1, longest_move(slice, group, ends.shift)};
    }
    const int root = graph.member_of(ends.root);
    const auto links = [&](int member) {
        return static_cast<int>(std::ranges::count(graph.links(), member, &GroupLink::to));
    };
    const std::vector<int> distance = graph.links_to(root);
    if (send) {
        const int to = graph.member_of(ends.to);
        return {v, std::min(links(root), links(to)), distance[static_cast<std::size_t>(to)]};
    }
    const bool whole = operation == Operation::broadcast;
    return {whole ? v : v * ((n - 1.0) / n), links(root), std::ranges::max(distance)};
}

}  // namespace podsim::collectives
