// The 80 % error band of a profile, from predictions that were held out by family.
//
// `like` is the smallest fraction that at least 80 % of the errors keep within, for steps that a
// step of another family is like (error_band.h). `unlike` is that of the other steps, and at least
// 1.5 times `like`, because fewer steps support it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/scenario/error_band.h"
#include "scenarios/src/study/measurement.h"

namespace podsim::scenarios {

/// A step's error when its family is left out: predicted / measured - 1.
struct HeldOutError {
    StepKind kind;
    std::int64_t d_model = 0;
    std::string family;
    double error = 0;
};

/// Returns the smallest of the sizes within which at least four of five lie; 0 without any.
double four_of_five(std::vector<double> sizes);

/// True if another family has a step of the same kind, and one with a model of this sort that is no
/// wider.
bool is_like_others(const HeldOutError& step, std::span<const HeldOutError> all);

ErrorBand error_band(std::span<const HeldOutError> errors);

/// Returns the fraction of those errors that lie within their band.
double coverage(const ErrorBand& band, std::span<const HeldOutError> errors);

}  // namespace podsim::scenarios
