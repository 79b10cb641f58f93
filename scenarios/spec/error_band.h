// How far a profile's predictions lay from published steps that they had not seen: an 80 % band.
//
// A step is like a published one if the profile knows a step on the same chip, of the same kind of model (dense or with
// experts) and of the same kind of matmuls (bf16 or quantised), and its model is no narrower than the narrowest that is
// known of its kind, on any chip: of narrow models other things take the time than matmuls. For such steps the band is
// `like`, for all others the wider `unlike`. scenarios/calibrate/band.h says how both are found.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace podsim::scenarios {

struct Scenario;

/// What likeness goes by.
struct StepKind {
    std::string chip;
    bool experts = false;
    bool quantised = false;
    auto operator<=>(const StepKind&) const = default;
};

/// Shares of the measured time: 0.06 is 6 %. A profile without a band has `like` 0.
struct ErrorBand {
    double like = 0;
    double unlike = 0;
    std::vector<StepKind> measured;
    std::int64_t dense_from = 0;    ///< d_model of the narrowest dense model among the measured
    std::int64_t experts_from = 0;  ///< the same of models with experts
    bool operator==(const ErrorBand&) const = default;
};

struct StepBand {
    double share = 0;
    bool like = false;  ///< whether a published step is like it
};

/// Of a scenario that is no program.
StepKind kind_of(const Scenario& scenario);

/// None where the profile has no band.
std::optional<StepBand> band_of(const ErrorBand& band, const StepKind& kind, std::int64_t d_model);

/// Of the scenario's profile; none of a step of inference, which the published training steps say nothing about.
std::optional<StepBand> band_of(const Scenario& scenario);

/// `v5e dense bf16`, `tpu7x experts quantised`.
std::string to_string(const StepKind& kind);

/// What to_string wrote; none for another text. The chip may have any name without blanks.
std::optional<StepKind> parse_step_kind(const std::string& text);

}  // namespace podsim::scenarios
