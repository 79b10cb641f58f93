// A profile as a YAML file:
//
//     name: ours
//     version: 2026-11-22
//     chips:
//       v5e: {mxu: 0.79, mxu_ramp: 0, attention: 0.42, ...}
//     band: {like: 0.06, unlike: 0.12, measured: [v5e dense bf16]}
//
// Factors that a chip does not name are as in the profile `ideal`; `band` may be left out. Numbers
// are written with the fewest digits that give the same double, so that a file that is read back is
// the same profile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scenarios/src/scenario/profile.h"

namespace podsim::scenarios {

std::string profile_text(const Profile& profile);

/// Reads a profile. Throws sim::InputError at file:line:column for keys that are unknown, missing
/// or of another form, for unknown chips and factors, and for values out of range.
Profile read_profile_file(const std::string& path);

/// True if a text has the end of a profile's file: .yaml or .yml.
bool names_profile_file(const std::string& text);

/// Returns the profile that a text names: none for `ideal`; `measured`, also with its version
/// (`measured@11`); or a file, relative to a folder. Throws sim::InputError for any other text.
std::optional<Profile> named_profile(const std::string& text, const std::filesystem::path& folder);

}  // namespace podsim::scenarios
