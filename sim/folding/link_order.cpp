#include "sim/folding/link_order.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace podsim::sim {
namespace {

/// Checks that ranks and common ranks grow together in a sequence.
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

/// Returns the role that sends a transfer, if the roles' transfers are contiguous; otherwise
/// nullopt.
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

/// True if ranks and common ranks grow together at every link, for hops of the phases and ports in
/// `of_turn`.
bool agree_at_links(const Schedule& schedule, const Machine& machine, const ScheduleFacts& facts,
                    const std::vector<std::uint64_t>& common, const std::vector<bool>& of_turn) {
    std::vector<std::vector<std::uint32_t>> places(schedule.roles.size());
    for (std::uint32_t place = 0; place < schedule.role_of_place.size(); ++place) {
        if (schedule.role_of_place[place] != kAbsent) {
            places[schedule.role_of_place[place]].push_back(place);
        }
    }
    // By phase and port (Turn::at), and place.
    std::map<std::pair<std::size_t, std::uint32_t>, Growing> links;
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
    // Most transfers of a port and phase agree regardless of the place. Only for the others are
    // single links compared.
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
