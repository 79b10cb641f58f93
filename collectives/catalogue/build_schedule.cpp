// Which builder carries out which operation.
#include <string>

#include "collectives/algorithms/all_to_all.h"
#include "collectives/algorithms/broadcast.h"
#include "collectives/algorithms/gather_scatter.h"
#include "collectives/algorithms/permute.h"
#include "collectives/algorithms/reduce_broadcast.h"
#include "collectives/algorithms/ring_builder.h"
#include "collectives/algorithms/send.h"
#include "collectives/catalogue/bounds.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

/// Only rings and lines go round dead links.
Algorithm around_dead_links(Operation operation, Algorithm algorithm,
                            const topology::Lattice& slice, const Group& group,
                            const topology::DeadLinks& dead_links) {
    if ((axes_mask(group) & dead_links.axes()) == 0) {
        return algorithm;
    }
    const bool routed = operation > Operation::all_reduce;
    if (routed || algorithm == Algorithm::reduce_broadcast) {
        throw sim::InputError(std::string(routed ? to_string(operation) : to_string(algorithm)) +
                                  " cannot run: it does not go round the dead links of its axes",
                              "use another mesh, or leave the links of those axes alive");
    }
    return algorithm == Algorithm::automatic
               ? resolve(Operation::all_gather, algorithm, slice, group)
               : algorithm;
}

}  // namespace

CollectiveSchedule build_schedule(Operation operation, const topology::Lattice& slice,
                                  const Group& group, const topology::SliceFactor& across,
                                  Algorithm algorithm, sim::Bytes v, const ScheduleOptions& options,
                                  ShiftTable& shifts, const Ends& ends) {
    if (across.length > 1) {
        algorithm = resolve_between_slices(operation, algorithm, slice, group);
        if (operation == Operation::all_to_all) {
            return build_all_to_all(slice, group, across, algorithm, v, options, shifts, ends);
        }
        return ScheduleBuilder(operation, slice, group, across, algorithm, v, options, shifts)
            .build();
    }
    return build_schedule(operation, slice, group, algorithm, v, options, shifts, ends);
}

CollectiveSchedule build_schedule(Operation operation, const topology::Lattice& slice,
                                  const Group& group, Algorithm algorithm, sim::Bytes v,
                                  const ScheduleOptions& options, ShiftTable& shifts,
                                  const Ends& ends) {
    const Algorithm resolved = resolve(
        operation, around_dead_links(operation, algorithm, slice, group, options.dead_links), slice,
        group);
    switch (operation) {
        case Operation::all_to_all:
            return build_all_to_all(slice, group, {}, resolved, v, options, shifts, ends);
        case Operation::permute:
            return build_permute(slice, group, resolved, ends.shift, v, options, shifts);
        case Operation::send:
            return build_send(slice, ends, v, options, shifts);
        case Operation::broadcast:
            return build_broadcast(slice, group, ends.root, v, options, shifts);
        case Operation::gather:
        case Operation::scatter:
            return build_spread(operation, slice, group, ends.root, v, options, shifts);
        default:
            break;
    }
    if (resolved == Algorithm::reduce_broadcast) {
        return build_reduce_broadcast(slice, group, v, options, shifts);
    }
    return ScheduleBuilder(operation, slice, group, {}, resolved, v, options, shifts).build();
}

}  // namespace podsim::collectives
