#include "sim/mirror/schedule_facts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace podsim::sim {
namespace {

std::vector<std::uint32_t> in_order_of_ranks(const Schedule& schedule) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranks;
    ranks.reserve(schedule.transfers.size());
    for (const Transfer& transfer : schedule.transfers) {
        ranks.emplace_back(transfer.rank, static_cast<std::uint32_t>(ranks.size()));
    }
    std::ranges::sort(ranks);
    std::vector<std::uint32_t> by_rank;
    by_rank.reserve(ranks.size());
    for (const auto& [rank, transfer] : ranks) {
        by_rank.push_back(transfer);
    }
    return by_rank;
}

std::size_t phases_of(const Schedule& schedule) {
    std::size_t phases = 0;
    for (const Transfer& transfer : schedule.transfers) {
        const std::uint32_t later = transfer.hop_count > 0 ? transfer.hop_count - 1 : 0;
        phases = std::max(phases, std::size_t{transfer.phase} + later * transfer.phase_per_hop + 1);
    }
    return phases;
}

std::vector<std::uint32_t> what_leads_to_joins(const Schedule& schedule) {
    std::vector<std::uint32_t> led_to_by(schedule.transfers.size(), ScheduleFacts::kNobody);
    for (std::uint32_t i = 0; i < schedule.transfers.size(); ++i) {
        const Transfer& transfer = schedule.transfers[i];
        for (std::uint32_t s = 0; transfer.hop_count > 0 && s < transfer.successor_count; ++s) {
            const std::uint32_t next = schedule.successors[transfer.first_successor + s];
            if (schedule.transfers[next].hop_count == 0) {
                led_to_by[next] = std::min(led_to_by[next], i);
            }
        }
    }
    return led_to_by;
}

}  // namespace

ScheduleFacts::ScheduleFacts(const Schedule& schedule, std::size_t ports_of_machine)
    : ports(ports_of_machine),
      phases(phases_of(schedule)),
      by_rank(in_order_of_ranks(schedule)),
      led_to_by(what_leads_to_joins(schedule)),
      first_beginning(schedule.roles.size() * phases * (ports + 1) + 1) {
    constexpr std::size_t kNowhere = ~std::size_t{0};
    std::vector<std::size_t> begins_at(schedule.transfers.size(), kNowhere);
    for (std::size_t role = 0; role < schedule.roles.size(); ++role) {
        const std::uint32_t first = schedule.roles[role].first_transfer;
        for (std::uint32_t i = first; i < first + schedule.roles[role].transfer_count; ++i) {
            const Transfer& transfer = schedule.transfers[i];
            const std::size_t port =
                transfer.hop_count > 0 ? schedule.hops[transfer.first_hop].port : ports;
            begins_at[i] = (role * phases + transfer.phase) * (ports + 1) + port;
            ++first_beginning[begins_at[i] + 1];
        }
    }
    std::partial_sum(first_beginning.begin(), first_beginning.end(), first_beginning.begin());
    beginning.resize(first_beginning.back());
    std::vector<std::size_t> next(first_beginning.begin(), first_beginning.end() - 1);
    for (const std::uint32_t transfer : by_rank) {
        if (begins_at[transfer] != kNowhere) {
            beginning[next[begins_at[transfer]]++] = transfer;
        }
    }
    for (std::size_t joins = ports; joins < next.size(); joins += ports + 1) {
        std::stable_sort(beginning.begin() + static_cast<std::ptrdiff_t>(first_beginning[joins]),
                         beginning.begin() + static_cast<std::ptrdiff_t>(next[joins]),
                         [&](std::uint32_t a, std::uint32_t b) {
                             const Transfer& one = schedule.transfers[a];
                             const Transfer& other = schedule.transfers[b];
                             return std::pair(one.needs, one.successor_count) <
                                    std::pair(other.needs, other.successor_count);
                         });
    }
}

}  // namespace podsim::sim
