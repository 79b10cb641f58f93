#include "collectives/bandwidth.h"

namespace podsim::collectives {

Bandwidth bandwidth(Operation operation, int members, sim::Bytes v, sim::Seconds time) {
    const double n = members;
    const double counted = operation == Operation::all_to_all ? v.value() / n : v.value();
    const double passes = operation == Operation::all_reduce ? 2 : 1;
    const double algorithm = counted / time.value();
    return {sim::BytesPerSecond(algorithm), sim::BytesPerSecond(algorithm * passes * (n - 1) / n)};
}

}  // namespace podsim::collectives
