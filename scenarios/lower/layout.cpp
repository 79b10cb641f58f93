#include "scenarios/lower/layout.h"

#include <numeric>
#include <utility>

#include "collectives/paths/ports.h"
#include "topology/graph/machine_routes.h"
#include "topology/mesh/fold.h"

namespace podsim::scenarios {
namespace {

/// That leaves places and ports where they are.
sim::Mirror no_mirror(const topology::Places& places, std::size_t ports) {
    sim::Mirror mirror{.place = std::vector<std::uint32_t>(static_cast<std::size_t>(places.size())),
                       .port = std::vector<std::uint32_t>(ports)};
    std::iota(mirror.place.begin(), mirror.place.end(), 0U);
    std::iota(mirror.port.begin(), mirror.port.end(), 0U);
    return mirror;
}

/// From one end of an axis to the other, ports + and - exchanged.
sim::Mirror other_end(const topology::Places& places, std::size_t ports, int axis) {
    sim::Mirror mirror = no_mirror(places, ports);
    const int length = places.chips.length(axis);
    for (int place = 0; place < places.size(); ++place) {
        topology::Point chip = places.point(place);
        int& at = chip[static_cast<std::size_t>(axis)];
        at = length - 1 - at;
        mirror.place[static_cast<std::size_t>(place)] =
            static_cast<std::uint32_t>(places.index(chip, places.slice_of(place)));
    }
    std::swap(mirror.port[collectives::port_of(axis, 1)],
              mirror.port[collectives::port_of(axis, -1)]);
    return mirror;
}

/// The ports of two axes exchanged.
sim::Mirror other_axis(const topology::Places& places, std::size_t ports, int one, int other) {
    sim::Mirror mirror = no_mirror(places, ports);
    for (const int direction : {1, -1}) {
        std::swap(mirror.port[collectives::port_of(one, direction)],
                  mirror.port[collectives::port_of(other, direction)]);
    }
    return mirror;
}

/// Of each axis that has a mirror without a chip on it, or one place that stands for all; and of two of the latter.
std::vector<sim::Mirror> mirrors_of(const topology::Places& places, std::size_t ports) {
    std::vector<sim::Mirror> mirrors;
    if (places.chips.twisted()) {
        return mirrors;
    }
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if (places.chips.length(axis) % 2 == 0 || places.chips.length(axis) == 1) {
            mirrors.push_back(other_end(places, ports, axis));
        }
    }
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        for (int other = axis + 1; other < topology::kAxes; ++other) {
            if (places.chips.length(axis) == 1 && places.chips.length(other) == 1) {
                mirrors.push_back(other_axis(places, ports, axis, other));
            }
        }
    }
    return mirrors;
}

}  // namespace

void fold_mirror_images(Fold fold, sim::Workload& workload, Layout& layout,
                        sim::KnownImages* known) {
    if (fold != Fold::automatic) {
        return;
    }
    if (auto folded = sim::fold_by_mirrors(
            workload, mirrors_of(layout.places, workload.machine.ports), known)) {
        workload = std::move(folded->workload);
        layout.mirrored = std::move(folded->representatives);
    }
}

Layout lay_out(const Hardware& hardware, Fold fold,
               const std::vector<collectives::Members>& members,
               const collectives::Members& unlike) {
    Layout layout;
    std::vector<collectives::Group> groups;
    bool leaves_slices = false;
    for (const collectives::Members& one : members) {
        groups.push_back(one.group);
        leaves_slices = leaves_slices || one.across.length > 1;
    }
    if (leaves_slices) {
        layout.host_box = topology::MachineRoutes::chips_sharing_links(
            hardware.slice, hardware.chip.host_shape.value);
    }
    const unsigned kept = perturbed_axes(hardware.perturbations);
    const bool slices_differ = (kept & kSlicesDiffer) != 0 || unlike.across.length > 1;
    layout.folded = topology::Places(
        topology::fold(hardware.slice, groups, layout.host_box, kept, unlike.group),
        slices_differ ? hardware.slices : 1);
    // Slices that have nothing to do with each other are alike.
    layout.places =
        fold == Fold::off ? topology::Places(hardware.slice, hardware.slices) : layout.folded;
    return layout;
}

}  // namespace podsim::scenarios
