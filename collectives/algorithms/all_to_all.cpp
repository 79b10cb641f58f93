#include "collectives/algorithms/all_to_all.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "collectives/paths/group_graph.h"
#include "collectives/paths/roles.h"
#include "collectives/paths/routes.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

constexpr double kMostTransfers = 20e6;
constexpr std::uint64_t kMostRoutes = 64;  ///< of one displacement: ties x orders, for ranks

/// Which member the places of a role are, where every member is a role of its own.
std::vector<int> member_of_role(const topology::Lattice& slice, const Group& group,
                                const Roles& roles) {
    const GroupGraph graph(slice, group);
    std::vector<int> members(roles.count());
    for (int chip = 0; chip < slice.size(); ++chip) {
        const topology::Point point = slice.point(chip);
        members[roles.of(point)] = graph.member_of(point);
    }
    return members;
}

/// What goes between two members, over the mean.
class Loads {
public:
    Loads(const topology::Lattice& slice, const Group& group, const Roles& roles, const Ends& ends)
        : returning_(ends.returning) {
        if (!ends.loads.empty()) {
            for (const int member : member_of_role(slice, group, roles)) {
                of_role_.push_back(ends.loads[static_cast<std::size_t>(member)]);
            }
        }
    }
    [[nodiscard]] double between(std::uint32_t from, std::uint32_t to) const {
        return of_role_.empty() ? 1 : of_role_[returning_ ? from : to];
    }
    [[nodiscard]] double most() const {
        return of_role_.empty() ? 1 : *std::ranges::max_element(of_role_);
    }

private:
    std::vector<double> of_role_;
    bool returning_;
};

/// Builds the transfers of every role.
class Builder {
public:
    Builder(const topology::Lattice& slice, const Group& group, const topology::SliceFactor& across,
            Algorithm algorithm, sim::Bytes v, const ScheduleOptions& options, ShiftTable& shifts,
            const Ends& ends)
        : slice_(slice),
          across_(across),
          roles_(slice, group, {}, !ends.loads.empty()),
          loads_(slice, group, roles_, ends),
          one_way_(algorithm == Algorithm::one_way),
          pair_bytes_(v / Members{group, across}.size() / Members{group, across}.size()),
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
    /// Ranks of the slices further round, and chips.
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
        return static_cast<std::uint32_t>(std::max(1.0, std::ceil(bytes * path.share / cap_)));
    }

    /// The other members of the slice, then those of the other slices.
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
            if (!(transfers < kMostTransfers)) {
                throw sim::InputError("the array would be cut into more than 20 million messages",
                                      "use a smaller array or a larger message cap");
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
        path.hop_count = kHopsBetweenSlices;
        add_hops_between_slices(across_, ranks, chips, shifts_, result_.schedule.hops);
        path.destination_shift =
            shifts_.number(Shift{.chips = chips, .slices = across_, .ranks = ranks});
        longest_ = std::max(longest_, kHopsBetweenSlices);
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

    /// The messages to one member, none to one that takes nothing; how many they are.
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
    const Loads loads_;
    const bool one_way_;
    const sim::Bytes pair_bytes_;
    const sim::Bytes cap_;
    ShiftTable& shifts_;
    std::map<Displacement, Routes> routes_;
    std::uint64_t most_messages_ = 1;
    int longest_ = 0;
    CollectiveSchedule result_;
};

/// Plain slices: axes are independent, since every order of them is used equally. Between two
/// coordinates of a coset with K members, one line of chips carries V / (n K) bytes.
double busiest_on_axis(const topology::Lattice& slice, const Group& group, int axis) {
    const int length = slice.length(axis);
    std::vector<std::array<double, 2>> load(static_cast<std::size_t>(length));
    int members = 1;
    for (const topology::AxisFactor& factor : group) {
        members *= factor.axis == axis ? factor.length : 1;
    }
    const auto base = [&](int coordinate) {
        for (const topology::AxisFactor& factor : group) {
            if (factor.axis == axis) {
                coordinate -= coordinate / factor.stride % factor.length * factor.stride;
            }
        }
        return coordinate;
    };
    for (int from = 0; from < length; ++from) {
        for (int to = 0; to < length; ++to) {
            if (from == to || base(from) != base(to)) {
                continue;
            }
            const auto ways = minimal_displacements(slice, topology::along(axis, to - from));
            for (const topology::Point& way : ways) {
                const int steps = way[static_cast<std::size_t>(axis)];
                const int direction = steps > 0 ? 1 : -1;
                for (int at = from, left = std::abs(steps); left > 0; --left) {
                    load[static_cast<std::size_t>(at)][direction > 0 ? 0 : 1] +=
                        1.0 / static_cast<double>(ways.size());
                    at = (at + direction + length) % length;
                }
            }
        }
    }
    double busiest = 0;
    for (const auto& directions : load) {
        busiest = std::max({busiest, directions[0], directions[1]});
    }
    return busiest / group_size(group) / members;
}

/// Twisted slices, or unequal members: every route of every chip is walked, or of one chip where all are alike.
double busiest_on_routes(const topology::Lattice& slice, const Group& group, const Ends& ends) {
    const Roles roles(slice, group, {}, !ends.loads.empty());
    const Loads loads(slice, group, roles, ends);
    const bool alike = roles.count() == 1;
    std::vector<double> load(static_cast<std::size_t>(slice.size()) * kIciPorts);
    const int sources = alike ? 1 : slice.size();
    for (int source = 0; source < sources; ++source) {
        const topology::Point chip = slice.point(source);
        roles.for_each_other(
            roles.of(chip), [&](const topology::Point& displacement, std::uint32_t other) {
                const double load_of_pair = loads.between(roles.of(chip), other);
                for (const Route& route : minimal_routes(slice, displacement)) {
                    topology::Point at = chip;
                    for (const Leg& leg : route.legs) {
                        for (int link = 0; link < leg.links; ++link) {
                            const int place = alike ? 0 : slice.index(*slice.canonical(at));
                            load[static_cast<std::size_t>(place) * kIciPorts +
                                 port_of(leg.axis, leg.direction)] += route.share * load_of_pair;
                            at = at + topology::along(leg.axis, leg.direction);
                        }
                    }
                }
            });
    }
    const double n = group_size(group);
    return *std::max_element(load.begin(), load.end()) / n / n;
}

}  // namespace

CollectiveSchedule build_all_to_all(const topology::Lattice& slice, const Group& group,
                                    const topology::SliceFactor& across, Algorithm algorithm,
                                    sim::Bytes v, const ScheduleOptions& options,
                                    ShiftTable& shifts, const Ends& ends) {
    if (across.length > 1 && !ends.loads.empty()) {
        throw sim::InputError("an AllToAll of unequal members spans slices",
                              "keep its axis within a slice");
    }
    return Builder(slice, group, across, algorithm, v, options, shifts, ends).build();
}

sim::Bytes busiest_link(const topology::Lattice& slice, const Group& group, sim::Bytes v,
                        const Ends& ends) {
    if (slice.twisted() || !ends.loads.empty()) {
        return v * busiest_on_routes(slice, group, ends);
    }
    double busiest = 0;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        busiest = std::max(busiest, busiest_on_axis(slice, group, axis));
    }
    return v * busiest;
}

}  // namespace podsim::collectives
