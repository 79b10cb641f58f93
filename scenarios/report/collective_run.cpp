#include "scenarios/report/collective_run.h"

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
    const bool send = run.request.operation == collectives::Operation::send;
    return send ? 2 : run.request.members.size();
}

/// What the algorithm walks along one factor of the group.
std::string_view served_by(const CollectiveRun& run, const topology::AxisFactor& factor) {
    const topology::Lattice& slice = run.request.hardware.slice;
    if (run.request.operation == collectives::Operation::all_to_all ||
        run.request.operation == collectives::Operation::permute) {
        return "shortest routes";
    }
    if (run.request.operation == collectives::Operation::broadcast) {
        return "trees";
    }
    if (collectives::is_rooted(run.request.operation)) {
        return "routes";
    }
    if (collectives::spans_twisted_slice(slice, run.request.members.group)) {
        return "ring modulo what is gathered";
    }
    return collectives::factor_kind(slice, factor).ring ? "ring" : "line";
}

}  // namespace podsim::scenarios
