#include "collectives/algorithms/all_to_all.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "collectives/algorithms/messages.h"
#include "collectives/paths/group_graph.h"
#include "collectives/paths/routes.h"

namespace podsim::collectives {
namespace {

/// Returns the member of each role, if every member is a role of its own.
std::vector<int> member_of_role(const CollectiveCall& call, const Roles& roles) {
    const GroupGraph graph(call.slice, call.group());
    std::vector<int> members(roles.count());
    for (int chip = 0; chip < call.slice.size(); ++chip) {
        const topology::Point point = call.slice.point(chip);
        members[roles.of(point)] = graph.member_of(point);
    }
    return members;
}

/// Limit of the routes of one displacement (ties times axis orders); it spaces the ranks.
constexpr std::uint64_t kMostRoutes = 64;

/// Builds the transfers of every role.
class RouteBuilder {
public:
    RouteBuilder(const CollectiveCall& call, const ScheduleOptions& options, ShiftTable& shifts)
        : slice_(call.slice),
          across_(call.members.across),
          roles_(roles_of_all_to_all(call)),
          loads_(call, roles_),
          one_way_(call.algorithm == Algorithm::one_way),
          pair_bytes_(call.bytes / call.members.size() / call.members.size()),
          cap_(options.message_cap),
          shifts_(shifts) {}

    CollectiveSchedule build() {
        find_routes();
        sim::Schedule& schedule = result_.schedule;
        schedule.roles.resize(roles_.count());
        for (std::uint32_t role = 0; role < roles_.count(); ++role) {
            schedule.roles[role].first_transfer =
                static_cast<std::uint32_t>(schedule.transfers.size());
            for_each_other(role, [&](const Displacement& displacement, std::uint32_t other) {
                schedule.roles[other].arrivals +=
                    emit(displacement, pair_bytes_ * loads_.between(role, other));
            });
            schedule.roles[role].transfer_count =
                static_cast<std::uint32_t>(schedule.transfers.size()) -
                schedule.roles[role].first_transfer;
        }
        for (int place = 0; place < shifts_.places().size(); ++place) {
            schedule.role_of_place.push_back(roles_.of(shifts_.places().point(place)));
        }
        result_.payloads.resize(schedule.transfers.size());
        result_.hops = longest_;
        return std::move(result_);
    }

private:
    /// The ranks of slices further round, and the displacement of chips.
    using Displacement = std::pair<int, topology::Point>;

    /// The hops of a route, stored once for all roles.
    struct Path {
        std::uint32_t first_hop = 0;
        std::uint32_t hop_count = 0;
        std::uint32_t destination_shift = 0;
        double share = 1;
    };
    struct Routes {
        std::uint64_t number = 0;
        std::vector<Path> paths;
    };

    [[nodiscard]] std::uint32_t messages(sim::Bytes bytes, const Path& path) const {
        return messages_of(bytes * path.share, cap_);
    }

    /// Visits the other members of the slice, then those of the other slices.
    void for_each_other(std::uint32_t role,
                        const std::function<void(const Displacement&, std::uint32_t)>& visit) {
        for (int ranks = 0; ranks < across_.length; ++ranks) {
            if (ranks > 0) {
                visit({ranks, topology::Point{}}, role);
            }
            roles_.for_each_other(role, [&](const topology::Point& chips, std::uint32_t other) {
                visit({ranks, chips}, other);
            });
        }
    }

    void find_routes() {
        double transfers = 0;
        for (std::uint32_t role = 0; role < roles_.count(); ++role) {
            for_each_other(role, [&](const Displacement& displacement, std::uint32_t other) {
                const auto [entry, added] = routes_.try_emplace(displacement);
                if (added) {
                    entry->second.number = routes_.size() - 1;
                    entry->second.paths = paths_to(displacement);
                }
                for (const Path& path : entry->second.paths) {
                    transfers +=
                        std::ceil(pair_bytes_ * loads_.between(role, other) * path.share / cap_) +
                        1;
                }
            });
            if (!(transfers < kMostMessages)) {
                throw TooManyMessages();
            }
        }
        for (const auto& [displacement, routes] : routes_) {
            for (const Path& path : routes.paths) {
                most_messages_ = std::max<std::uint64_t>(
                    most_messages_, messages(pair_bytes_ * loads_.most(), path));
            }
        }
    }

    std::vector<Path> paths_to(const Displacement& displacement) {
        const auto& [ranks, chips] = displacement;
        if (ranks > 0) {
            return {path_between_slices(ranks, chips)};
        }
        std::vector<Path> paths;
        for (const Route& route :
             one_way_ ? ordered_routes(chips) : minimal_routes(slice_, chips)) {
            paths.push_back(path_of(route));
        }
        return paths;
    }

    Path path_between_slices(int ranks, const topology::Point& chips) {
        Path path;
        path.first_hop = static_cast<std::uint32_t>(result_.schedule.hops.size());
        const Shift there{.chips = chips, .slices = across_, .ranks = ranks};
        path.hop_count = shifts_.add_route(there, result_.schedule.hops);
        path.destination_shift = shifts_.number(there);
        longest_ = std::max(longest_, static_cast<int>(path.hop_count));
        return path;
    }

    Path path_of(const Route& route) {
        Path path;
        path.first_hop = static_cast<std::uint32_t>(result_.schedule.hops.size());
        path.share = route.share;
        topology::Point at{};
        for (const Leg& leg : route.legs) {
            for (int link = 0; link < leg.links; ++link) {
                result_.schedule.hops.push_back(
                    {shifts_.number(at), port_of(leg.axis, leg.direction)});
                at = at + topology::along(leg.axis, leg.direction);
            }
        }
        path.hop_count = static_cast<std::uint32_t>(result_.schedule.hops.size()) - path.first_hop;
        path.destination_shift = shifts_.number(at);
        longest_ = std::max(longest_, route.links());
        return path;
    }

    /// Emits the messages to one member and returns their number: none to a member that takes
    /// nothing.
    std::uint32_t emit(const Displacement& displacement, sim::Bytes bytes) {
        if (bytes.value() == 0) {
            return 0;
        }
        const Routes& routes = routes_.at(displacement);
        std::uint32_t emitted = 0;
        for (std::size_t i = 0; i < routes.paths.size(); ++i) {
            const Path& path = routes.paths[i];
            const std::uint32_t count = messages(bytes, path);
            for (std::uint32_t message = 0; message < count; ++message) {
                sim::Transfer transfer;
                transfer.first_hop = path.first_hop;
                transfer.hop_count = path.hop_count;
                transfer.destination_shift = path.destination_shift;
                transfer.phase = static_cast<std::uint32_t>(longest_) - path.hop_count;
                transfer.phase_per_hop = 1;
                transfer.rank = (routes.number * kMostRoutes + i) * most_messages_ + message;
                transfer.bytes = bytes * path.share / static_cast<double>(count);
                transfer.bytes_before = transfer.bytes * static_cast<double>(message);
                result_.schedule.transfers.push_back(transfer);
            }
            emitted += count;
        }
        return emitted;
    }

    const topology::Lattice& slice_;
    const topology::SliceFactor across_;
    const Roles roles_;
    const MemberLoads loads_;
    const bool one_way_;
    const sim::Bytes pair_bytes_;
    const sim::Bytes cap_;
    ShiftTable& shifts_;
    std::map<Displacement, Routes> routes_;
    std::uint64_t most_messages_ = 1;
    int longest_ = 0;
    CollectiveSchedule result_;
};

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

CollectiveSchedule build_all_to_all(const CollectiveCall& call, const ScheduleOptions& options,
                                    ShiftTable& shifts) {
    if (call.members.span_slices() && !call.ends.loads.empty()) {
        throw sim::InputError("an AllToAll of unequal members spans slices",
                              "keep its axis within a slice");
    }
    return RouteBuilder(call, options, shifts).build();
}

}  // namespace podsim::collectives
