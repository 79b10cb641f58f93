#include "sim/state/transfer_table.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/workload/result.h"

namespace podsim::sim {
namespace {

constexpr std::uint32_t kMostNarrow = 255;

std::uint32_t first_phase(const Schedule& schedule) {
    std::uint32_t first = 0xffffffff;
    for (const Transfer& transfer : schedule.transfers) {
        first = std::min(first, transfer.phase);
    }
    return first;
}

std::uint16_t narrow(std::uint32_t count) {
    if (count > 0xffff) {
        throw std::logic_error("a transfer crosses too many links");
    }
    return static_cast<std::uint16_t>(count);
}

}  // namespace

RolesOfPlaces::RolesOfPlaces(const std::vector<std::uint32_t>& roles) : role_of_place(&roles) {
    index_in_role.reserve(roles.size());
    for (const std::uint32_t role : roles) {
        if (role == kAbsent) {
            index_in_role.push_back(kAbsent);
            continue;
        }
        if (role >= places_of_role.size()) {
            places_of_role.resize(role + 1);
        }
        index_in_role.push_back(places_of_role[role]++);
        ++present;
    }
}

TransferTable::TransferTable(const Schedule& schedule, const RolesOfPlaces& own)
    : waves(schedule.hops.size()),
      places_of_role(own.places_of_role),
      first_phase_(first_phase(schedule)) {
    places_of_role.resize(schedule.roles.size());
    counted_.resize(schedule.roles.size());
    lay_out_paths(schedule, lay_out_roles(schedule));
}

std::vector<std::uint64_t> TransferTable::lay_out_roles(const Schedule& schedule) {
    // Edges to transfers with several predecessors lead to a row of counters.
    std::vector<std::uint64_t> counter(schedule.transfers.size(), Edge::kFires);
    for (std::size_t role = 0; role < schedule.roles.size(); ++role) {
        first_root.push_back(static_cast<std::uint32_t>(roots.size()));
        const Role& spec = schedule.roles[role];
        std::uint64_t& hops = hops_of_role.emplace_back(0);
        for (std::uint32_t i = 0; i < spec.transfer_count; ++i) {
            const std::uint32_t transfer = spec.first_transfer + i;
            const std::uint32_t needs = schedule.transfers[transfer].needs;
            hops += std::uint64_t{schedule.transfers[transfer].hop_count} *
                    schedule.transfers[transfer].copies;
            if (needs == 1) {
                roots.push_back(first_hop_of(schedule, transfer));
            } else if (needs > 2) {
                counted_[role] = true;
                counter[transfer] = add_counters(places_of_role[role], needs - 1);
            }
        }
        line_up(schedule, first_root.back());
    }
    first_root.push_back(static_cast<std::uint32_t>(roots.size()));
    return counter;
}

std::uint64_t TransferTable::add_counters(std::uint32_t places, std::uint32_t predecessors) {
    const std::size_t first = counters_.size();
    const bool wide = predecessors > kMostNarrow;
    if (!wide) {
        counters_.resize(first + places, static_cast<std::uint8_t>(predecessors));
        counters_.resize((counters_.size() + 3) / 4 * 4);
        return 2 * first;
    }
    counters_.resize(first + 4UL * places);
    for (std::size_t place = 0; place < places; ++place) {
        std::memcpy(&counters_[first + 4 * place], &predecessors, 4);
    }
    return 2 * first + 1;
}

FirstHop TransferTable::first_hop_of(const Schedule& schedule, std::uint32_t transfer) const {
    const Transfer& spec = schedule.transfers[transfer];
    FirstHop first{.transfer = transfer, .phase = spec.phase - first_phase_};
    if (spec.hop_count > 0) {
        const Hop& hop = schedule.hops[spec.first_hop];
        first.shift = hop.shift;
        first.port = hop.port;
    }
    return first;
}

void TransferTable::line_up(const Schedule& schedule, std::size_t first) {
    const auto begin = roots.begin() + static_cast<std::ptrdiff_t>(first);
    const auto turn = [&schedule](const FirstHop& root) {
        return std::tuple(root.port, root.shift, root.phase,
                          schedule.transfers[root.transfer].rank);
    };
    std::sort(begin, roots.end(),
              [&turn](const FirstHop& a, const FirstHop& b) { return turn(a) < turn(b); });
    auto kept = begin;
    FirstHop last;
    for (auto at = begin; at != roots.end(); ++at) {
        const FirstHop root = *at;
        if (root.port != FirstHop::kJoin && root.port == last.port && root.shift == last.shift) {
            behind.resize(schedule.transfers.size(), kNone);
            behind[last.transfer] = root.transfer;
        } else {
            *kept++ = root;
        }
        last = root;
    }
    roots.erase(kept, roots.end());
}

void TransferTable::lay_out_paths(const Schedule& schedule,
                                  const std::vector<std::uint64_t>& counter) {
    paths.resize(schedule.transfers.size());
    edges.reserve(schedule.successors.size());
    auto next_path = paths.begin();
    for (const Transfer& transfer : schedule.transfers) {
        TransferPath& path = *next_path++;
        path.rank = transfer.rank;
        path.carried_units = carried_units(transfer.bytes);
        path.first_hop = transfer.first_hop;
        path.hop_count = narrow(transfer.hop_count);
        path.destination_shift = transfer.destination_shift;
        path.phase = transfer.phase - first_phase_;
        path.phase_per_hop = narrow(transfer.phase_per_hop);
        path.reads = transfer.reads;
        path.writes = transfer.writes;
        path.copies = transfer.copies;
        phases = std::max(phases, std::size_t{1} + path.phase +
                                      std::size_t{transfer.hop_count} * transfer.phase_per_hop);
        path.first_edge = static_cast<std::uint32_t>(edges.size());
        path.edge_count = transfer.successor_count;
        for (std::uint32_t s = 0; s < transfer.successor_count; ++s) {
            const std::uint32_t next = schedule.successors[transfer.first_successor + s];
            if (schedule.transfers[next].needs == 1) {
                throw std::logic_error("a transfer that needs only the start has a predecessor");
            }
            edges.push_back({counter[next], first_hop_of(schedule, next)});
        }
    }
}

void TransferTable::work_out_times(const Schedule& schedule,
                                   const std::vector<std::uint32_t>& class_of_port,
                                   const std::vector<LinkSpec>& link_classes, LatencyRule rule) {
    for (std::size_t transfer = 0; transfer < paths.size(); ++transfer) {
        TransferPath& path = paths[transfer];
        if (path.hop_count > 0) {
            const std::uint32_t of_class = class_of_port[schedule.hops[path.first_hop].port];
            path.work_out_times(schedule.transfers[transfer], of_class, link_classes[of_class],
                                rule);
        }
    }
}

bool TransferTable::holds(const RolesOfPlaces& roles) const {
    if (roles.places_of_role.size() > places_of_role.size()) {
        return false;
    }
    for (std::size_t role = 0; role < roles.places_of_role.size(); ++role) {
        if (counted_[role] && roles.places_of_role[role] > places_of_role[role]) {
            return false;
        }
    }
    return true;
}

}  // namespace podsim::sim
