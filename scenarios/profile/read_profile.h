// `hardware.profile` of a scenario: what of the ideal rates is reached.
#pragma once

#include <filesystem>
#include <string>

#include "scenarios/spec/hardware.h"
#include "scenarios/yaml/reader.h"

namespace podsim::scenarios {

/// The catalogue's name of the chip, or of the one that the scenario changes.
std::string base_name(const Reader& chip, const topology::ChipSpec& spec);

/// `measured` where the chip has it, unless the scenario says otherwise. A chip that the scenario changes keeps the factors of
/// its base (changed_chip.h), without the band of errors where a value differs.
/// `serves`: for inference, whose overheads (topology::with_inference_overheads) the profiles of the catalogue have beside
/// the factors of training; a file says itself what it has.
void read_profile(const Reader& hardware, const std::filesystem::path& base, bool serves,
                  IdealHardware& result);

/// `hardware.core_clock`, once the profile is read.
void read_core_clock(const Reader& hardware, IdealHardware& result);

/// Says to the log what factors a profile named by one word comes to.
void tell_factors(const Reader& profile, const Hardware& hardware);

}  // namespace podsim::scenarios
