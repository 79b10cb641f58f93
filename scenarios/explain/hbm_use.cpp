#include "scenarios/explain/hbm_use.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>
#include <vector>

namespace podsim::scenarios {
namespace {

/// In 1/1024 byte, as links count what they carry: sums are exact in any order, so that folded runs give the same.
using Units = std::int64_t;

/// [place]: what messages read and write.
struct Moved {
    std::vector<Units> collectives;
    std::vector<Units> host_transfers;
};

/// What crosses a link of infinite rate takes none at the HBM either.
bool takes_time(const sim::Workload& workload, const sim::Schedule& schedule, std::uint32_t hop,
                std::size_t source) {
    const sim::Machine& machine = workload.machine;
    const std::size_t at = machine.shifted(schedule.hops[hop].shift, source);
    return std::isfinite(machine.links[machine.link(at, schedule.hops[hop].port)].rate.value());
}

/// `all_take_time`: whether no link of the machine has an infinite rate.
void add(const sim::Workload& workload, const sim::OperationSpec& spec, int times,
         bool all_take_time, Moved& moved) {
    const sim::Schedule& schedule = workload.schedules[spec.schedule];
    const std::vector<std::uint32_t>& roles = spec.placement == sim::kOwnPlacement
                                                  ? schedule.role_of_place
                                                  : workload.placements[spec.placement];
    for (std::size_t place = 0; place < roles.size(); ++place) {
        if (roles[place] == sim::kAbsent) {
            continue;
        }
        const sim::Role& role = schedule.roles[roles[place]];
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            const sim::Transfer& transfer = schedule.transfers[role.first_transfer + i];
            if (transfer.hop_count == 0) {
                continue;
            }
            // Those of hosts begin or end outside of the HBM.
            std::vector<Units>& units = transfer.reads == 0 || transfer.writes == 0
                                            ? moved.host_transfers
                                            : moved.collectives;
            const Units all = times * sim::carried_units(transfer.bytes) * transfer.copies;
            if (all_take_time || takes_time(workload, schedule, transfer.first_hop, place)) {
                units[place] += all * transfer.reads;
            }
            if (all_take_time || takes_time(workload, schedule,
                                            transfer.first_hop + transfer.hop_count - 1, place)) {
                units[workload.machine.shifted(transfer.destination_shift, place)] +=
                    all * transfer.writes;
            }
        }
    }
}

Moved moved_by_messages(const sim::Workload& workload) {
    Moved moved{std::vector<Units>(workload.machine.places),
                std::vector<Units>(workload.machine.places)};
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<sim::OperationSpec, int>> uses;
    for (const sim::OperationSpec& spec : workload.operations) {
        auto& use = uses[{spec.schedule, spec.placement}];
        use.first = spec;
        ++use.second;
    }
    const bool all_take_time = std::ranges::all_of(
        workload.machine.links,
        [](const sim::LinkSpec& link) { return std::isfinite(link.rate.value()); });
    for (const auto& [key, use] : uses) {
        add(workload, use.first, use.second, all_take_time, moved);
    }
    return moved;
}

}  // namespace

sim::Bytes bytes_of_kernels(const workloads::StepProgram& program) {
    sim::Bytes sum;
    for (const workloads::Op& op : program.ops) {
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            sum += work->hbm;
        }
    }
    return sum;
}

LinkUse hbm_use(const sim::Workload& workload, std::span<const sim::Bytes> kernels,
                const Layout& layout, sim::Time end) {
    const Moved moved = moved_by_messages(workload);
    const double could_move = static_cast<double>(workload.machine.memory_rate) * end.seconds();
    const int chips = layout.folded.size();
    LinkUse use;
    use.name = "hbm";
    Units by_kernels = 0;
    Units by_collectives = 0;
    Units by_hosts = 0;
    Units busiest = 0;
    for (int representative = 0; representative < chips; ++representative) {
        const auto place = static_cast<std::size_t>(layout.place_of(representative));
        const Units own = sim::carried_units(kernels[workload.graph_of_place[place]]);
        by_kernels += own;
        by_collectives += moved.collectives[place];
        by_hosts += moved.host_transfers[place];
        busiest = std::max(busiest, own + moved.collectives[place] + moved.host_transfers[place]);
    }
    const auto mean = [&](Units units) {
        return static_cast<double>(units) / sim::kCarriedUnit / chips;
    };
    use.bytes = sim::Bytes(mean(by_kernels + by_collectives + by_hosts));
    use.busiest_bytes = sim::Bytes(static_cast<double>(busiest) / sim::kCarriedUnit);
    if (end.ps == 0) {
        return use;
    }
    use.busy_fraction = use.bytes.value() / could_move;
    use.busiest_fraction = use.busiest_bytes.value() / could_move;
    use.by_user = {{"kernels", mean(by_kernels) / could_move},
                   {"collectives", mean(by_collectives) / could_move},
                   {"host transfers", mean(by_hosts) / could_move}};
    return use;
}

}  // namespace podsim::scenarios
