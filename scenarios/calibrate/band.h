// The 80 % error band of a profile, from predictions that were held out by family.
//
// `like` is the smallest share that at least 80 % of the errors keep within, of steps that a step of another family is like
// (error_band.h); `unlike` that of the others, and at least 1.5 times `like`: fewer steps lie behind it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenarios/calibrate/measurement.h"
#include "scenarios/spec/error_band.h"

namespace podsim::scenarios {

/// A step's error when its family is left out: predicted / measured - 1.
struct HeldOutError {
    StepKind kind;
    std::int64_t d_model = 0;
    std::string family;
    double error = 0;
};

/// The smallest of the sizes within which at least four of five lie; 0 without any.
double four_of_five(std::vector<double> sizes);

/// Whether a step of another family is of the same kind, and one of another family with such a model no wider.
bool is_like_others(const HeldOutError& step, std::span<const HeldOutError> all);

ErrorBand error_band(std::span<const HeldOutError> errors);

/// The share of those errors that lie within their band.
double coverage(const ErrorBand& band, std::span<const HeldOutError> errors);

}  // namespace podsim::scenarios
