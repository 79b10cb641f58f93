#include "scenarios/src/simulate/hbm_use.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace podsim::scenarios {
namespace {

/// Bytes in units of 1/1024 byte, as links count them: sums are exact in any order, so that folded
/// runs give the same.
using Units = std::int64_t;

/// Units that messages read and write, by [of hosts][place].
using Moved = std::array<std::vector<Units>, 2>;

/// Units that the messages of a role read at its places, and write at the places to which shifts
/// lead.
struct MovedByRole {
    explicit MovedByRole(std::size_t shifts) : written(shifts) {}

    Units read = 0;
    std::vector<Units> written;  ///< [shift]
};

/// True if the hop's link has a finite rate. Data on a link of infinite rate takes no time at the
/// HBM either.
bool takes_time(const sim::Workload& workload, const sim::Schedule& schedule, std::uint32_t hop,
                std::size_t source) {
    const sim::Machine& machine = workload.machine;
    const std::size_t at = machine.shifted(schedule.hops[hop].shift, source);
    return std::isfinite(machine.links[machine.link(at, schedule.hops[hop].port)].rate.value());
}

/// Returns the units by [of hosts]; messages of hosts begin or end outside of the HBM. `takes(hop)`
/// is true if a link takes time.
template <class Takes>
std::array<MovedByRole, 2> moved_by(const sim::Schedule& schedule, const sim::Role& role,
                                    std::size_t shifts, const Takes& takes) {
    std::array moved{MovedByRole(shifts), MovedByRole(shifts)};
    for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
        const sim::Transfer& transfer = schedule.transfers[role.first_transfer + i];
        if (transfer.hop_count == 0) {
            continue;
        }
        MovedByRole& sums = moved.at(transfer.reads == 0 || transfer.writes == 0 ? 1 : 0);
        const Units all = sim::carried_units(transfer.bytes) * transfer.copies;
        if (takes(transfer.first_hop)) {
            sums.read += all * transfer.reads;
        }
        if (takes(transfer.first_hop + transfer.hop_count - 1)) {
            sums.written[transfer.destination_shift] += all * transfer.writes;
        }
    }
    return moved;
}

/// Adds the units of an operation that occurs `times` times. `all_take_time` is true if no link of
/// the machine has an infinite rate, so that all places of a role have equal units.
void add(const sim::Workload& workload, const sim::OperationSpec& spec, int times,
         bool all_take_time, Moved& units) {
    const sim::Machine& machine = workload.machine;
    const std::size_t shifts = machine.shifts.size() / machine.places;
    const sim::Schedule& schedule = workload.schedules[spec.schedule];
    const std::vector<std::uint32_t>& roles = spec.placement == sim::kOwnPlacement
                                                  ? schedule.role_of_place
                                                  : workload.placements[spec.placement];
    std::vector<std::optional<std::array<MovedByRole, 2>>> known(schedule.roles.size());
    for (std::size_t place = 0; place < roles.size(); ++place) {
        if (roles[place] == sim::kAbsent) {
            continue;
        }
        auto& moved = known[roles[place]];
        if (!moved || !all_take_time) {
            moved =
                moved_by(schedule, schedule.roles[roles[place]], shifts, [&](std::uint32_t hop) {
                    return all_take_time || takes_time(workload, schedule, hop, place);
                });
        }
        for (std::size_t of_hosts = 0; of_hosts < moved->size(); ++of_hosts) {
            const MovedByRole& sums = (*moved)[of_hosts];
            units[of_hosts][place] += times * sums.read;
            for (std::size_t shift = 0; shift < shifts; ++shift) {
                if (sums.written[shift] > 0) {
                    units[of_hosts][machine.shifted(shift, place)] += times * sums.written[shift];
                }
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
    const auto [collectives, hosts] = moved_by_messages(workload);
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
        by_collectives += collectives[place];
        by_hosts += hosts[place];
        busiest = std::max(busiest, own + collectives[place] + hosts[place]);
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
