#include "scenarios/src/simulate/layout.h"

#include <numeric>
#include <utility>

#include "collectives/paths/ports.h"
#include "topology/graph/machine_routes.h"
#include "topology/mesh/fold.h"

namespace podsim::scenarios {
namespace {

/// Returns the mirrors of each axis that has a mirror without a chip on it, or on which one place
/// stands for all: they reverse the axis and exchange the ports + and -. For two axes of the latter
/// kind, a mirror exchanges their ports.
std::vector<sim::Mirror> mirrors_of(const topology::Places& places, std::size_t ports,
                                    bool axes_apart) {
    std::vector<sim::Mirror> mirrors;
    const auto add = [&](int axis, int other) {
        sim::Mirror& mirror = mirrors.emplace_back();
        for (int place = 0; place < places.size(); ++place) {
            topology::Point chip = places.point(place);
            int& at = chip[static_cast<std::size_t>(axis)];
            at = axis == other ? places.chips.length(axis) - 1 - at : at;
            mirror.place.push_back(
                static_cast<std::uint32_t>(places.index(chip, places.slice_of(place))));
        }
        mirror.port.resize(ports);
        std::iota(mirror.port.begin(), mirror.port.end(), 0U);
        for (const int way : {1, -1}) {
            const std::uint32_t from = collectives::port_of(axis, way);
            const std::uint32_t to = collectives::port_of(other, axis == other ? -way : way);
            mirror.port[from] = to;
            mirror.port[to] = from;
        }
    };
    // The mirrors of single axes come first: cached images are keyed by the mirrors' numbers, which
    // are then the same with the others and without.
    for (int apart = 0; apart < (axes_apart ? 1 : topology::kAxes); ++apart) {
        for (int axis = 0; axis + apart < topology::kAxes && !places.chips.twisted(); ++axis) {
            const int length = places.chips.length(axis);
            const bool one_place = length == 1 && places.chips.length(axis + apart) == 1;
            if (one_place || (apart == 0 && length % 2 == 0)) {
                add(axis, axis + apart);
            }
        }
    }
    return mirrors;
}

}  // namespace

void fold_mirror_images(Fold fold, sim::Workload& workload, Layout& layout,
                        sim::KnownImages* known) {
    if (fold == Fold::off) {
        return;
    }
    const std::vector<sim::Mirror> mirrors =
        mirrors_of(layout.places, workload.machine.ports, fold == Fold::axes_apart);
    // Mirrors do not depend on the tasks, which are many to copy.
    std::vector<sim::TaskGraph> graphs = std::exchange(workload.graphs, {});
    if (auto folded = sim::fold_by_mirrors(workload, mirrors, known)) {
        workload = std::move(folded->workload);
        layout.mirrored = std::move(folded->representatives);
    }
    workload.graphs = std::move(graphs);
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
    // Slices without traffic between them are alike.
    layout.places =
        fold == Fold::off ? topology::Places(hardware.slice, hardware.slices) : layout.folded;
    return layout;
}

}  // namespace podsim::scenarios
