#include "scenarios/least/mirrored_step.h"

#include <algorithm>
#include <variant>

#include "collectives/paths/factors.h"

namespace podsim::scenarios {

bool is_mirrored(const OperationKinds& kinds, const workloads::StepPrograms& programs,
                 const PlacedMesh& mesh, const Hardware& hardware, TensorCollectives tensor) {
    if (programs.programs.size() > 1 || hardware.slices > 1 || !hardware.perturbations.empty() ||
        hardware.slice.twisted()) {
        return false;
    }
    return std::ranges::all_of(kinds.all(), [&](const OperationKinds::Kind& kind) {
        const auto* collective = std::get_if<workloads::Collective>(&kind.work);
        if (collective == nullptr || !collective->loads.empty()) {
            return false;
        }
        const collectives::Group& group = mesh.members(collective->axes).group;
        if (collective->step ||
            (tensor == TensorCollectives::in_steps && may_go_in_steps(*collective))) {
            return group.size() == 1 && group.front().stride == 1;
        }
        switch (collective->operation) {
            case collectives::Operation::all_gather:
            case collectives::Operation::reduce_scatter:
                return true;
            case collectives::Operation::all_reduce:
                return collectives::group_size(group) <= 2 ||
                       !collectives::has_line(hardware.slice, group);
            default:
                return false;
        }
    });
}

}  // namespace podsim::scenarios
