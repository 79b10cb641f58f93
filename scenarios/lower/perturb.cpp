#include "scenarios/lower/perturb.h"

#include <set>

#include "collectives/paths/ports.h"
#include "topology/lattice/hosts.h"

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
        // Both ways: the far end's link back.
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

/// The links of every host that has a chip where the perturbation holds.
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

}  // namespace

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

}  // namespace podsim::scenarios
