#include "sim/memory/at_risk.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace podsim::sim {
namespace {

/// The demand of a role's messages on a memory, as a multiple of a link's rate. Link and memory are
/// given by their shifts from the source.
struct Ask {
    std::uint32_t to_link = 0;  ///< shifts
    std::uint32_t to_memory = 0;
    std::uint32_t port = 0;
    int passes = 0;
};

/// Raises the passes of its like to at least those of `more`, or adds `more`.
template <class Asked, class Like>
void ask(std::vector<Asked>& all, const Asked& more, const Like& like) {
    const auto known = std::find_if(all.rbegin(), all.rend(), like);
    if (known == all.rend()) {
        all.push_back(more);
    } else {
        known->passes = std::max(known->passes, more.passes);
    }
}

/// Stands for a shift: the memory is the source's.
constexpr std::uint32_t kSource = 0xffffffff;

std::vector<Ask> asks_of(const Schedule& schedule, const Role& role) {
    std::vector<Ask> asks;
    const auto add = [&](const Hop& link, std::uint32_t to_memory, int passes) {
        if (passes > 0) {
            ask(asks, {link.shift, to_memory, link.port, passes}, [&](const Ask& other) {
                return other.to_link == link.shift && other.to_memory == to_memory &&
                       other.port == link.port;
            });
        }
    };
    const Transfer* before = nullptr;
    for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
        const Transfer& transfer = schedule.transfers[role.first_transfer + i];
        if (transfer.hop_count == 0) {
            continue;
        }
        const Hop* const hops = &schedule.hops[transfer.first_hop];
        // Most transfers are steps of one phase with the same route.
        const bool alike = before != nullptr && transfer.hop_count == 1 && before->hop_count == 1 &&
                           *hops == schedule.hops[before->first_hop] &&
                           transfer.destination_shift == before->destination_shift &&
                           transfer.reads == before->reads && transfer.writes == before->writes &&
                           transfer.copies == before->copies;
        before = &transfer;
        if (!alike) {
            add(hops[0], kSource, transfer.reads * transfer.copies);
            add(hops[transfer.hop_count - 1], transfer.destination_shift,
                transfer.writes * transfer.copies);
        }
    }
    return asks;
}

/// A link whose messages read or write a memory.
struct OfLink {
    std::size_t link = 0;
    bool reads = false;
    int passes = 0;
};

/// The demands of messages on the places' memories, over all schedules added so far. All links that
/// read or write a memory count at once.
class AskedByLinks {
public:
    explicit AskedByLinks(const Workload& workload)
        : workload_(workload), of_place_(workload.machine.places) {}

    /// Adds the demands of a schedule with this placement.
    void add(std::uint32_t number, std::uint32_t placement) {
        const Schedule& schedule = workload_.schedules[number];
        const Machine& machine = workload_.machine;
        std::vector<std::vector<Ask>> asks;
        for (const Role& role : schedule.roles) {
            asks.push_back(asks_of(schedule, role));
        }
        const std::vector<std::uint32_t>& roles =
            placement == kOwnPlacement ? schedule.role_of_place : workload_.placements[placement];
        for (std::size_t place = 0; place < roles.size(); ++place) {
            if (roles[place] == kAbsent) {
                continue;
            }
            for (const Ask& one : asks[roles[place]]) {
                const bool reads = one.to_memory == kSource;
                const std::size_t memory = reads ? place : machine.shifted(one.to_memory, place);
                const std::size_t link =
                    machine.link(machine.shifted(one.to_link, place), one.port);
                ask(of_place_[memory], {link, reads, one.passes}, [&](const OfLink& other) {
                    return other.link == link && other.reads == reads;
                });
            }
        }
    }

    /// Returns an upper bound of the demand on a place's memory, in bytes per second.
    [[nodiscard]] double most(std::size_t place) const {
        double sum = 0;
        for (const OfLink& one : of_place_[place]) {
            sum += workload_.machine.links[one.link].rate.value() * one.passes;
        }
        return sum;
    }

private:
    const Workload& workload_;
    std::vector<std::vector<OfLink>> of_place_;
};

/// Returns an upper bound of the demand of a place's work: the sum over its resources of the
/// largest demand.
std::int64_t most_of_work(const TaskGraph& graph) {
    std::map<std::uint32_t, std::int64_t> largest;
    for (const Task& task : graph.tasks) {
        if (task.operation == kNoOperation) {
            std::int64_t& demand = largest[task.resource];
            demand = std::max(demand, task.demand);
        }
    }
    std::int64_t sum = 0;
    for (const auto& [resource, demand] : largest) {
        sum += demand;
    }
    return sum;
}

}  // namespace

std::vector<bool> graphs_at_risk(const Workload& workload) {
    const Machine& machine = workload.machine;
    if (machine.memory_rate == 0) {
        return {};
    }
    std::vector<std::int64_t> work;
    for (const TaskGraph& graph : workload.graphs) {
        work.push_back(most_of_work(graph));
    }
    // With links of their own, any number of operations may run at a time.
    std::vector<bool> at_risk(workload.graphs.size(), machine.isolated_operations);
    AskedByLinks links(workload);
    const auto look = [&] {
        for (std::size_t place = 0; place < machine.places; ++place) {
            const std::uint32_t graph = workload.graph_of_place[place];
            at_risk[graph] =
                at_risk[graph] || links.most(place) + static_cast<double>(work[graph]) >
                                      static_cast<double>(machine.memory_rate);
        }
    };
    // Pairs of schedule and placement.
    std::set<std::pair<std::uint32_t, std::uint32_t>> uses;
    for (const OperationSpec& operation : workload.operations) {
        uses.insert({operation.schedule, operation.placement});
    }
    std::size_t looked_at = 0;
    for (const auto& [schedule, placement] : uses) {
        links.add(schedule, placement);
        // Further uses only raise the demands. It does not pay to check after each of many.
        if (std::has_single_bit(++looked_at)) {
            look();
            if (std::ranges::all_of(at_risk, std::identity())) {
                return at_risk;
            }
        }
    }
    look();
    return std::ranges::any_of(at_risk, std::identity()) ? at_risk : std::vector<bool>();
}

}  // namespace podsim::sim
