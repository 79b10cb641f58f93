// The rules that a simulator has to beat: a step takes 6ND at X % MFU, X one number for each chip, or for each chip and
// kind of matmuls.
//
// X is fitted like podsim's factors, by the least squares of ln(predicted / measured): the geometric mean of 6ND / (measured
// time x peak). The rule per chip goes by the bf16 peak; that per chip and precision by the peak of the step's own
// matmuls. Where no step with the key is there to fit X to, it is that of the nearest that are: of the chip, whatever its
// matmuls, then of the kind of matmuls, then of all.
#pragma once

#include <optional>
#include <span>

#include "scenarios/calibrate/measurement.h"

namespace podsim::scenarios {

enum class RuleKey { chip, chip_and_precision };

/// Seconds of a step by the rule fitted to `known`; none without any.
std::optional<double> rule_time(RuleKey key, std::span<const Measurement> known,
                                const Measurement& step);

}  // namespace podsim::scenarios
