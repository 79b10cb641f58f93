#include "sim/folding/schedule_facts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace podsim::sim {
namespace {

/// Returns the transfers sorted by rank; equal ranks keep their order.
std::vector<std::uint32_t> in_order_of_ranks(const Schedule& schedule) {
    const std::vector<Transfer>& transfers = schedule.transfers;
    std::vector<std::uint32_t> by_rank(transfers.size());
    const std::uint64_t last = std::accumulate(
        transfers.begin(), transfers.end(), std::uint64_t{0},
        [](std::uint64_t most, const Transfer& one) { return std::max(most, one.rank); });
    // Ranks per transfer up to which counting is faster than sorting.
    constexpr std::size_t kFewRanks = 8;
    if (last > kFewRanks * transfers.size()) {
        std::iota(by_rank.begin(), by_rank.end(), 0U);
        std::ranges::stable_sort(by_rank, {}, [&](std::uint32_t i) { return transfers[i].rank; });
        return by_rank;
    }
    std::vector<std::uint32_t> next(last + 2);
    for (const Transfer& transfer : transfers) {
        ++next[transfer.rank + 1];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::uint32_t i = 0; i < transfers.size(); ++i) {
        by_rank[next[transfers[i].rank]++] = i;
    }
    return by_rank;
}

std::size_t ports_of(const Schedule& schedule) {
    std::size_t ports = 0;
    for (const Hop& hop : schedule.hops) {
        ports = std::max(ports, std::size_t{hop.port} + 1);
    }
    return ports;
}

std::size_t phases_of(const Schedule& schedule) {
    std::size_t phases = 0;
    for (const Transfer& transfer : schedule.transfers) {
        const std::size_t later = transfer.hop_count > 0 ? transfer.hop_count - 1 : 0;
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

std::vector<Turn> turns_of(const Schedule& schedule, const std::vector<std::uint32_t>& by_rank,
                           std::size_t ports) {
    std::vector<Turn> turns;
    turns.reserve(schedule.hops.size());
    for (const std::uint32_t i : by_rank) {
        const Transfer& transfer = schedule.transfers[i];
        std::size_t phase = transfer.phase;
        for (std::uint32_t hop = 0; hop < transfer.hop_count; ++hop) {
            const std::uint32_t number = transfer.first_hop + hop;
            turns.push_back({i, number,
                             static_cast<std::uint32_t>(phase * ports + schedule.hops[number].port),
                             transfer.rank});
            phase += transfer.phase_per_hop;
        }
    }
    return turns;
}

}  // namespace

ScheduleFacts::ScheduleFacts(const Schedule& schedule)
    : ports(ports_of(schedule)),
      phases(phases_of(schedule)),
      by_rank(in_order_of_ranks(schedule)),
      turns(turns_of(schedule, by_rank, ports)),
      led_to_by(what_leads_to_joins(schedule)),
      first_(schedule.roles.size() * phases * (ports + 1) + 1) {
    constexpr std::size_t kNowhere = ~std::size_t{0};
    std::vector<std::size_t> begins_at(schedule.transfers.size(), kNowhere);
    for (std::size_t role = 0; role < schedule.roles.size(); ++role) {
        const std::uint32_t first = schedule.roles[role].first_transfer;
        for (std::uint32_t i = first; i < first + schedule.roles[role].transfer_count; ++i) {
            const Transfer& transfer = schedule.transfers[i];
            const std::size_t port =
                transfer.hop_count > 0 ? schedule.hops[transfer.first_hop].port : ports;
            begins_at[i] = (role * phases + transfer.phase) * (ports + 1) + port;
            ++first_[begins_at[i] + 1];
        }
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    beginning_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const std::uint32_t transfer : by_rank) {
        if (begins_at[transfer] != kNowhere) {
            beginning_[next[begins_at[transfer]]++] = transfer;
        }
    }
    for (std::size_t joins = ports; joins < next.size(); joins += ports + 1) {
        std::stable_sort(beginning_.begin() + static_cast<std::ptrdiff_t>(first_[joins]),
                         beginning_.begin() + static_cast<std::ptrdiff_t>(next[joins]),
                         [&](std::uint32_t a, std::uint32_t b) {
                             const Transfer& one = schedule.transfers[a];
                             const Transfer& other = schedule.transfers[b];
                             return std::pair(one.needs, one.successor_count) <
                                    std::pair(other.needs, other.successor_count);
                         });
    }
}

}  // namespace podsim::sim
