#include "scenarios/lowering.h"

#include <algorithm>
#include <fmt/format.h>

#include "topology/fold.h"

namespace podsim::scenarios {

sim::Machine build_machine(const Hardware& hardware, const collectives::ShiftTable& shifts) {
    sim::Machine machine;
    machine.places = static_cast<std::size_t>(shifts.places().size());
    machine.ports = collectives::kPorts;
    machine.rule = hardware.latency;
    machine.links.assign(machine.places * machine.ports,
                         {.rate = hardware.chip.ici_one_way(hardware.ici_rates),
                          .latency = sim::round_up(hardware.chip.ici_latency.value)});
    machine.shifts = shifts.table();
    return machine;
}

topology::Lattice simulated_places(const topology::Lattice& slice, Fold fold,
                                   const std::vector<collectives::Group>& groups) {
    return fold == Fold::off ? slice : topology::fold(slice, groups);
}

std::vector<LinkUse> link_use(const Hardware& hardware, const topology::Lattice& places,
                              const topology::Lattice& folded, const sim::ExecutionResult& result) {
    std::vector<LinkUse> uses;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const int length = hardware.slice.length(axis);
        if (length == 1) {
            continue;
        }
        LinkUse use;
        use.name = fmt::format("ici_{}", "xyz"[axis]);
        sim::Time busy;
        sim::LinkTotals most;
        std::int64_t carried = 0;
        for (int place = 0; place < folded.size(); ++place) {
            for (const int direction : {1, -1}) {
                const std::size_t server =
                    static_cast<std::size_t>(places.index(folded.point(place))) *
                        collectives::kPorts +
                    collectives::port_of(axis, direction);
                const sim::LinkTotals& link = result.links[server];
                busy += link.busy;
                carried += link.carried_units;
                most.busy = std::max(most.busy, link.busy);
                most.carried_units = std::max(most.carried_units, link.carried_units);
            }
        }
        // An unwrapped axis lacks the two links at its ends.
        const double per_line = hardware.slice.wraps(axis) ? 2.0 : 2.0 * (length - 1) / length;
        const double links = per_line * folded.size();
        if (result.end.ps > 0) {
            use.busy_fraction = busy.seconds() / links / result.end.seconds();
            use.busiest_fraction = most.busy.seconds() / result.end.seconds();
        }
        use.bytes = sim::LinkTotals{.busy = {}, .carried_units = carried}.carried() / links;
        use.busiest_bytes = most.carried();
        uses.push_back(use);
    }
    return uses;
}

}  // namespace podsim::scenarios
