// The error of a profile's predictions for published steps that it had not seen, as an 80 % band.
//
// A step is like a published one if the profile has a step on the same chip, of the same kind of
// model (dense or with experts) and of the same kind of matmuls (bf16 or quantised). Its model must
// also be no narrower than the profile's narrowest model of that kind on any chip, because in
// narrow models the time goes to other work than matmuls. The band of these steps is `like`, that
// of all others the wider `unlike`. scenarios/src/study/band.h says how both are found.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace podsim::scenarios {

struct Scenario;

/// The properties by which steps are alike.
struct StepKind {
    std::string chip;
    bool experts = false;
    bool quantised = false;
    auto operator<=>(const StepKind&) const = default;
};

/// Fractions of the measured time: 0.06 is 6 %. A profile without a band has `like` 0.
struct ErrorBand {
    double like = 0;
    double unlike = 0;
    std::vector<StepKind> measured;
    std::int64_t dense_from = 0;    ///< d_model of the narrowest dense model among the measured
    std::int64_t experts_from = 0;  ///< likewise for models with experts
    bool operator==(const ErrorBand&) const = default;
};

struct StepBand {
    double share = 0;
    bool like = false;  ///< a published step is like it
};

/// Returns the kind of a scenario's step. The scenario is not a program.
StepKind kind_of(const Scenario& scenario);

/// Returns nothing if the profile has no band.
std::optional<StepBand> band_of(const ErrorBand& band, const StepKind& kind, std::int64_t d_model);

/// Returns the band of the scenario's profile; nothing for a step of inference, because published
/// training steps do not describe it.
std::optional<StepBand> band_of(const Scenario& scenario);

/// Writes `v5e dense bf16`, `tpu7x experts quantised`.
std::string to_string(const StepKind& kind);

/// Reads the text of to_string; returns nothing for another text. The chip may have any name
/// without blanks.
std::optional<StepKind> parse_step_kind(const std::string& text);

}  // namespace podsim::scenarios
