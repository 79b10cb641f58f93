#include "scenarios/src/search/mirrored_step.h"

#include <algorithm>
#include <variant>

#include "collectives/paths/factors.h"
#include "scenarios/src/simulate/lower_collective.h"

namespace podsim::scenarios {
namespace {

/// True if steps along the factor go alike in both directions: along a line without a middle
/// member, and round a ring of two in both directions at once. A ring that fills its axis alone has
/// no mirror.
bool steps_are_mirrored(const topology::Lattice& slice, const topology::AxisFactor& factor,
                        bool both_ways) {
    if (collectives::factor_kind(slice, factor).ring) {
        return factor.stride == 1 || (both_ways && factor.length == 2);
    }
    return factor.length % 2 == 0;
}

/// It is not determined whether an AllReduce of more members goes along trees. That takes runs of
/// the collective, which for hundreds of members are longer than the steps that a better bound of
/// these plans saves.
constexpr int kFewMembers = 16;

}  // namespace

bool is_mirrored(const OperationKinds& kinds, const workloads::StepPrograms& programs,
                 const PlacedMesh& mesh, const AchievedHardware& hardware, TensorCollectives tensor,
                 KnownCollectives& known) {
    if (programs.programs.size() > 1 || hardware.slices > 1 || !hardware.perturbations.empty() ||
        hardware.slice.twisted()) {
        return false;
    }
    const auto goes_along_line = [&](const collectives::Group& group) {
        return collectives::group_size(group) > 2 && collectives::has_line(hardware.slice, group);
    };
    const auto may_go_along_trees = [&](const workloads::Collective& collective) {
        if (collectives::group_size(mesh.members(collective.axes).group) > kFewMembers) {
            return true;
        }
        const StageCollective lone{.operation = collective.operation,
                                   .members = mesh.members(collective.axes),
                                   .bytes = collective.bytes};
        return known.algorithm(hardware, lone, [&] {
            return pick_algorithm(hardware, lone).algorithm;
        }) == collectives::Algorithm::reduce_broadcast;
    };
    return std::ranges::all_of(kinds.all(), [&](const OperationKinds::Kind& kind) {
        const auto* collective = std::get_if<workloads::Collective>(&kind.work);
        if (collective == nullptr || !collective->loads.empty()) {
            return false;
        }
        const collectives::Group& group = mesh.members(collective->axes).group;
        if (collective->step && collective->step->senders) {
            return false;
        }
        if (collective->step) {
            return steps_are_mirrored(hardware.slice,
                                      group[static_cast<std::size_t>(collective->step->factor)],
                                      collective->step->direction == 0);
        }
        if (tensor == TensorCollectives::in_steps && may_go_in_steps(*collective)) {
            return std::ranges::all_of(group, [&](const topology::AxisFactor& factor) {
                return steps_are_mirrored(hardware.slice, factor, false);
            });
        }
        switch (collective->operation) {
            case collectives::Operation::all_gather:
            case collectives::Operation::reduce_scatter:
                return true;
            case collectives::Operation::all_reduce:
                return collective->bytes.value() == 0 || !goes_along_line(group) ||
                       !may_go_along_trees(*collective);
            default:
                return false;
        }
    });
}

}  // namespace podsim::scenarios
