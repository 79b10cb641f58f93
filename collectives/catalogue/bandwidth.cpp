#include "collectives/catalogue/bandwidth.h"

namespace podsim::collectives {
namespace {

/// Bus bandwidth over algorithm bandwidth.
double bus_factor(Operation operation, double n) {
    switch (operation) {
        case Operation::permute:
        case Operation::send:
        case Operation::broadcast:
            return 1;
        case Operation::all_reduce:
            return 2 * (n - 1) / n;
        default:
            return (n - 1) / n;
    }
}

}  // namespace

Bandwidth bandwidth(Operation operation, int members, sim::Bytes v, sim::Seconds time) {
    const bool of_one_rank = operation == Operation::all_to_all || operation == Operation::permute;
    const double algorithm = v.value() / (of_one_rank ? members : 1) / time.value();
    return {sim::BytesPerSecond(algorithm),
            sim::BytesPerSecond(algorithm * bus_factor(operation, members))};
}

}  // namespace podsim::collectives
