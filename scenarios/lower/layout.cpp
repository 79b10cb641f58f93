#include "scenarios/lower/layout.h"

#include "topology/graph/machine_routes.h"
#include "topology/mesh/fold.h"

namespace podsim::scenarios {

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
