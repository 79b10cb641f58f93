// Reads `hardware.profile` of a scenario: the fractions of the ideal rates that are reached.
#pragma once

#include <filesystem>
#include <string>

#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/scenario/reader.h"

namespace podsim::scenarios {

/// Returns the catalogue's name of the chip, or of the one that the scenario changes.
std::string base_name(const Reader& chip, const topology::ChipSpec& spec);

/// Reads the profile; the default is `measured` if it has the chip. A chip that the scenario
/// changes keeps the factors of its base (changed_chip.h), without the band of errors if a value
/// differs. `serves`: for inference, whose overheads (topology::with_inference_overheads) the
/// profiles of the catalogue have beside the factors of training; a file states its own.
void read_profile(const Reader& hardware, const std::filesystem::path& base, bool serves,
                  IdealHardware& result);

/// Reads `hardware.core_clock`, after the profile.
void read_core_clock(const Reader& hardware, IdealHardware& result);

/// Reports to the log the factors of a profile that is named by one word.
void tell_factors(const Reader& profile, const Hardware& hardware);

}  // namespace podsim::scenarios
