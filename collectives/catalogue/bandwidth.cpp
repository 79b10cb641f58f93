#include "collectives/catalogue/bandwidth.h"

#include "collectives/catalogue/operations.h"

namespace podsim::collectives {

Bandwidth bandwidth(Operation operation, int members, sim::Bytes v, sim::Seconds time) {
    const OperationInfo& row = info(operation);
    const double algorithm = v.value() / (row.counts_one_rank ? members : 1) / time.value();
    return {sim::BytesPerSecond(algorithm),
            sim::BytesPerSecond(algorithm * row.bus_factor(members))};
}

}  // namespace podsim::collectives
