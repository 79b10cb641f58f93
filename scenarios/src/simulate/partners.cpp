#include "scenarios/src/simulate/partners.h"

#include <algorithm>
#include <set>
#include <utility>

namespace podsim::scenarios {
namespace {

/// Returns senders and receivers of the handovers, each pair of stages once.
std::vector<std::vector<std::vector<std::uint32_t>>> ways_between_stages(const LoweredStep& step) {
    std::vector<std::vector<std::vector<std::uint32_t>>> ways;
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (std::size_t i = 0; i < step.handovers.size(); ++i) {
        const sim::OperationSpec& spec = step.workload.operations[i];
        if (step.handovers[i].sends != workloads::kWholeStep &&
            seen.emplace(spec.schedule, spec.placement).second) {
            ways.push_back(receivers_of(step.workload, spec));
        }
    }
    return ways;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> receivers_of(const sim::Workload& workload,
                                                     const sim::OperationSpec& operation) {
    const sim::Schedule& schedule = workload.schedules[operation.schedule];
    const std::vector<std::uint32_t>& roles = operation.placement == sim::kOwnPlacement
                                                  ? schedule.role_of_place
                                                  : workload.placements[operation.placement];
    std::vector<std::vector<std::uint32_t>> receivers(roles.size());
    for (std::size_t place = 0; place < roles.size(); ++place) {
        if (roles[place] == sim::kAbsent) {
            continue;
        }
        const sim::Role& role = schedule.roles[roles[place]];
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            receivers[place].push_back(workload.machine.shifted(
                schedule.transfers[role.first_transfer + i].destination_shift, place));
        }
    }
    return receivers;
}

std::vector<std::uint32_t> partners_of(const LoweredStep& step, std::size_t stage,
                                       const std::vector<std::uint32_t>& places) {
    std::vector<std::uint32_t> found(places.size(), sim::kNoPlace);
    std::copy_n(places.begin() + static_cast<std::ptrdiff_t>(stage * step.members), step.members,
                found.begin() + static_cast<std::ptrdiff_t>(stage * step.members));
    const std::vector<std::uint32_t>& program_of = step.workload.graph_of_place;
    const auto ways = ways_between_stages(step);
    for (bool more = true; std::exchange(more, false);) {
        for (const auto& receivers : ways) {
            for (std::uint32_t from = 0; from < receivers.size(); ++from) {
                for (const std::uint32_t to : receivers[from]) {
                    std::uint32_t& sender = found[program_of[from]];
                    std::uint32_t& receiver = found[program_of[to]];
                    if (sender == from && receiver == sim::kNoPlace) {
                        receiver = to;
                        more = true;
                    } else if (receiver == to && sender == sim::kNoPlace) {
                        sender = from;
                        more = true;
                    }
                }
            }
        }
    }
    return found;
}

}  // namespace podsim::scenarios
