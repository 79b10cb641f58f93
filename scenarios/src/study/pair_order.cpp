#include "scenarios/src/study/pair_order.h"

#include <algorithm>
#include <cmath>

namespace podsim::scenarios {
namespace {

constexpr double kTooNear = 0.01;
constexpr double kEqual = 1e-9;  // of predictions: the same but for rounding

}  // namespace

PairOrder pair_order(std::span<const Measurement> measurements,
                     const std::vector<double>& predicted_s) {
    PairOrder order;
    for (std::size_t i = 0; i < measurements.size(); ++i) {
        for (std::size_t k = i + 1; k < measurements.size(); ++k) {
            const Measurement& a = measurements[i];
            const Measurement& b = measurements[k];
            if (a.what != Measured::step || b.what != Measured::step || a.chip != b.chip ||
                a.kind.quantised != b.kind.quantised || !(predicted_s[i] > 0) ||
                !(predicted_s[k] > 0)) {
                continue;
            }
            const double measured = (a.measured_s / a.work) / (b.measured_s / b.work) - 1;
            if (std::abs(measured) < kTooNear) {
                continue;
            }
            const double predicted = (predicted_s[i] / a.work) / (predicted_s[k] / b.work) - 1;
            ++order.pairs;
            if (std::abs(predicted) < kEqual) {
                order.right += 0.5;
            } else if ((predicted > 0) == (measured > 0)) {
                order.right += 1;
            }
        }
    }
    return order;
}

}  // namespace podsim::scenarios
