// A profile: the fraction of its ideal rates that each of several chips reaches, and the error band
// of the predictions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/src/scenario/error_band.h"
#include "topology/chips/efficiency.h"

namespace podsim::scenarios {

struct Profile {
    std::string name;
    std::string version;
    std::map<std::string, topology::Efficiency> chips;
    ErrorBand band;
    bool operator==(const Profile&) const = default;
};

/// Returns the profile `measured`.
Profile measured_profile();

/// Returns the factors that `profile: {base: ...}` takes over: those of a measured chip, or of the
/// profile `ideal`. Throws sim::InputError for any other text.
topology::Efficiency base_factors(const std::string& text);

/// Returns the factor of that name. Throws sim::InputError with the nearest name.
const topology::EfficiencyFactor& find_factor(std::string_view name);

}  // namespace podsim::scenarios
