#include "scenarios/src/simulate/build_machine.h"

#include <set>

#include "collectives/paths/ports.h"
#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/simulate/rates.h"
#include "sim/workload/machine.h"
#include "topology/graph/link_kinds.h"
#include "topology/lattice/dead_links.h"
#include "topology/lattice/hosts.h"
#include "topology/lattice/places.h"

namespace podsim::scenarios {
namespace {

void slow_down(sim::LinkSpec& link, double share) {
    link.rate = link.rate * share;
}

void slow_link(const Perturbation& one, const topology::Places& places, int place,
               sim::Machine& machine) {
    const topology::Point chip = places.point(place);
    if (one.direction >= 0) {
        const std::uint32_t port = collectives::port_of(one.axis, 1);
        slow_down(machine.links[machine.link(static_cast<std::size_t>(place), port)], one.share);
    }
    if (one.direction <= 0) {
        // Both directions: also slow the far end's link back.
        const auto from = one.direction < 0
                              ? std::optional(chip)
                              : places.chips.canonical(chip + topology::along(one.axis, 1));
        if (from.has_value()) {
            const auto source =
                static_cast<std::size_t>(places.index(*from, places.slice_of(place)));
            const std::uint32_t port = collectives::port_of(one.axis, -1);
            slow_down(machine.links[machine.link(source, port)], one.share);
        }
    }
}

/// Slows the links of every host with a chip for which the perturbation holds.
void slow_hosts(const Perturbation& one, const topology::Point& box, const topology::Places& places,
                sim::Machine& machine) {
    const auto origin = [&](int place) {
        topology::Point chip = places.point(place);
        for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
            chip[axis] -= chip[axis] % box[axis];
        }
        return places.index(chip, places.slice_of(place));
    };
    std::set<int> hosts;
    for (int place = 0; place < places.size(); ++place) {
        if (one.where.holds(places.point(place), places.slice_of(place))) {
            hosts.insert(origin(place));
        }
    }
    for (int place = 0; place < places.size(); ++place) {
        if (!hosts.contains(origin(place))) {
            continue;
        }
        const auto chip = static_cast<std::size_t>(place);
        if (one.kind == Perturbation::Kind::slow_host) {
            slow_down(machine.links[machine.link(chip, collectives::kPcieToHost)], one.share);
            slow_down(machine.links[machine.link(chip, collectives::kPcieToChip)], one.share);
        }
        if (origin(place) == place) {
            slow_down(machine.links[machine.link(chip, collectives::kDcnOut)], one.share);
            slow_down(machine.links[machine.link(chip, collectives::kDcnIn)], one.share);
        }
    }
}

/// Slows the chips and links of a machine on those places. Axes and slices along which chips differ
/// are whole there. Nothing is sent over dead links (dead_links).
void perturb(const AchievedHardware& hardware, const topology::Places& places,
             sim::Machine& machine) {
    using Kind = Perturbation::Kind;
    const topology::Point box =
        topology::Hosts(hardware.slice, hardware.chip.host_shape.value).box();
    for (const Perturbation& one : hardware.perturbations) {
        if (one.kind == Kind::slow_host || one.kind == Kind::slow_dcn) {
            if (machine.ports == collectives::kAllPorts) {
                slow_hosts(one, box, places, machine);
            }
            continue;
        }
        for (int place = 0; place < places.size(); ++place) {
            const topology::Point chip = places.point(place);
            const int slice = places.slice_of(place);
            if (!one.where.holds(chip, slice)) {
                continue;
            }
            if (one.kind == Kind::slow_link) {
                slow_link(one, places, place, machine);
            } else if (one.kind != Kind::dead_link) {
                machine.slowdown.resize(machine.places, 1);
                machine.slowdown[static_cast<std::size_t>(place)] *=
                    one.kind == Kind::slow_chips ? one.factor : random_factor(one, chip, slice);
            }
        }
    }
}

/// Returns the dead links of those places.
topology::DeadLinks dead_links(const Hardware& hardware, const topology::Places& places) {
    topology::DeadLinks dead;
    for (const Perturbation& one : hardware.perturbations) {
        if (one.kind != Perturbation::Kind::dead_link) {
            continue;
        }
        if (dead.axes() == 0) {
            dead = topology::DeadLinks(places);
        }
        for (int place = 0; place < places.size(); ++place) {
            if (one.where.holds(places.point(place), places.slice_of(place))) {
                dead.add(place, one.axis);
            }
        }
    }
    return dead;
}

}  // namespace

sim::Machine build_machine(const AchievedHardware& hardware, const collectives::ShiftTable& shifts,
                           bool hosts) {
    sim::Machine machine;
    machine.places = static_cast<std::size_t>(shifts.places().size());
    machine.ports = hosts ? collectives::kAllPorts : collectives::kIciPorts;
    machine.rule = hardware.latency;
    machine.memory_rate = memory_rate(hardware);
    const std::vector<topology::LinkKind> kinds =
        topology::link_kinds(hardware.chip, hardware.ici_rates, hardware.oversubscription);
    std::vector<sim::LinkSpec> ports;
    for (std::size_t port = 0; port < machine.ports; ++port) {
        ports.push_back({kinds[port].rate.value, sim::round_up(kinds[port].latency.value)});
    }
    machine.links.reserve(machine.places * machine.ports);
    for (std::size_t place = 0; place < machine.places; ++place) {
        machine.links.insert(machine.links.end(), ports.begin(), ports.end());
    }
    machine.shifts = shifts.table();
    if (hosts) {
        machine.index_at_shared = shifts.index_in_host();
    }
    perturb(hardware, shifts.places(), machine);
    return machine;
}

collectives::LinkModel link_model(const AchievedHardware& hardware) {
    return {.rate = hardware.chip.ici_one_way(hardware.ici_rates),
            .latency = hardware.chip.ici_latency.value,
            .rule = hardware.latency};
}

collectives::ScheduleOptions schedule_options(const AchievedHardware& hardware,
                                              const Layout& layout) {
    const collectives::LinkModel link = link_model(hardware);
    return {.message_cap = hardware.message_cap,
            .dead_links = dead_links(hardware, layout.places),
            .hop_bytes = sim::Bytes(link.rate.value() * link.latency.value()),
            .payloads = false};
}

collectives::SliceLinks slice_links(const Hardware& hardware) {
    return {.pcie = hardware.chip.pcie_one_way.value,
            .dcn = hardware.chip.dcn_per_host.value / hardware.oversubscription,
            .pcie_latency = hardware.chip.pcie_latency.value,
            .dcn_latency = hardware.chip.dcn_latency.value,
            .hosts = topology::Hosts(hardware.slice, hardware.chip.host_shape.value).count()};
}

}  // namespace podsim::scenarios
