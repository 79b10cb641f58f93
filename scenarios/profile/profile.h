// A profile: what each of several chips reaches of its ideal rates, and how far its predictions may be off.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/spec/error_band.h"
#include "topology/chips/efficiency.h"

namespace podsim::scenarios {

struct Profile {
    std::string name;
    std::string version;
    std::map<std::string, topology::Efficiency> chips;
    ErrorBand band;
    bool operator==(const Profile&) const = default;
};

/// The profile `measured`: the newest version without a name, or one of topology::profile_versions(). None for an unknown
/// version.
std::optional<Profile> measured_profile(const std::string& version = {});

/// What `profile: {base: ...}` takes over: the factors of a measured chip, or those of the profile `ideal`. Throws
/// sim::InputError for another.
topology::Efficiency base_factors(const std::string& text);

/// The factor of that name. Throws sim::InputError with the nearest.
const topology::EfficiencyFactor& find_factor(std::string_view name);

}  // namespace podsim::scenarios
