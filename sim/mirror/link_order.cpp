#include "sim/mirror/link_order.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace podsim::sim {
namespace {

/// Whether ranks and common ranks grow together, of what comes one after the other.
class Growing {
public:
    bool agrees(std::uint64_t rank, std::uint64_t common) {
        const bool first = !std::exchange(seen_, true);
        const bool agrees = first || ((rank == rank_) == (common == common_) && common_ <= common);
        rank_ = rank;
        common_ = common;
        return agrees;
    }

private:
    std::uint64_t rank_ = 0;
    std::uint64_t common_ = 0;
    bool seen_ = false;
};

/// The role that sends a transfer, of roles whose transfers follow each other; nothing where they do not.
std::optional<std::uint32_t> role_of(const Schedule& schedule, std::uint32_t transfer) {
    const auto behind =
        std::ranges::upper_bound(schedule.roles, transfer, {}, &Role::first_transfer);
    if (behind == schedule.roles.begin()) {
        return std::nullopt;
    }
    const Role& role = *std::prev(behind);
    return transfer - role.first_transfer < role.transfer_count
               ? std::optional(static_cast<std::uint32_t>(behind - schedule.roles.begin() - 1))
               : std::nullopt;
}

/// Whether ranks and common ranks grow together at every link, of hops whose turn is one of those.
bool agree_at_links(const Schedule& schedule, const Machine& machine, const ScheduleFacts& facts,
                    const std::vector<std::uint64_t>& common, const std::vector<bool>& of_turn) {
    std::vector<std::vector<std::uint32_t>> places(schedule.roles.size());
    for (std::uint32_t place = 0; place < schedule.role_of_place.size(); ++place) {
        if (schedule.role_of_place[place] != kAbsent) {
            places[schedule.role_of_place[place]].push_back(place);
        }
    }
    std::map<std::pair<std::size_t, std::uint32_t>, Growing> links;  // by turn and place
    bool agree = true;
    for (const Turn& turn : facts.turns) {
        if (!of_turn[turn.at] || !agree) {
            continue;
        }
        const auto role = role_of(schedule, turn.transfer);
        agree = role.has_value();
        for (std::size_t i = 0; agree && i < places[*role].size(); ++i) {
            const std::uint32_t there =
                machine.shifted(schedule.hops[turn.hop].shift, places[*role][i]);
            agree = there != kNoPlace &&
                    links[{turn.at, there}].agrees(turn.rank, common[turn.transfer]);
        }
    }
    return agree;
}

}  // namespace

bool orders_agree(const Schedule& schedule, const Machine& machine, const ScheduleFacts& facts,
                  const std::vector<std::uint64_t>& common) {
    // Most of what crosses a port in a phase agrees wherever it meets; else what counts is what meets at one link.
    std::vector<Growing> ports(facts.phases * facts.ports);
    std::vector<bool> disagree(facts.phases * facts.ports);
    bool all_agree = true;
    for (const Turn& turn : facts.turns) {
        if (!ports[turn.at].agrees(turn.rank, common[turn.transfer])) {
            disagree[turn.at] = true;
            all_agree = false;
        }
    }
    return all_agree || agree_at_links(schedule, machine, facts, common, disagree);
}

}  // namespace podsim::sim
