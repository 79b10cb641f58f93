#include "scenarios/src/report/collective_run.h"

#include "collectives/catalogue/operations.h"
#include "collectives/paths/factors.h"

namespace podsim::scenarios {

collectives::Bandwidth bandwidth_of(const CollectiveRun& run) {
    return collectives::bandwidth(run.request.operation, run.request.members.size(),
                                  run.request.bytes, sim::Seconds(run.result.simulated.seconds()));
}

double share_of(sim::Time part, const CollectiveResult& result) {
    return part.seconds() / result.simulated.seconds();
}

double bound_over_simulated(const CollectiveResult& result) {
    return result.physical_bound.value() / result.simulated.seconds();
}

int member_count(const CollectiveRun& run) {
    const bool between_two =
        collectives::info(run.request.operation).ends == collectives::EndsTaken::two_chips;
    return between_two ? 2 : run.request.members.size();
}

std::string_view served_by(const CollectiveRun& run, const topology::AxisFactor& factor) {
    const topology::Lattice& slice = run.request.hardware.slice;
    const collectives::OperationInfo& row = collectives::info(run.request.operation);
    if (row.routed) {
        return row.carried_by;
    }
    if (collectives::spans_twisted_slice(slice, run.request.members.group)) {
        return "ring modulo what is gathered";
    }
    return collectives::factor_kind(slice, factor).ring ? "ring" : "line";
}

}  // namespace podsim::scenarios
