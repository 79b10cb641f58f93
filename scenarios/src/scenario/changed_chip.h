// A chip that a scenario changes: the keys that differ from its base, and the factors of a profile
// that were measured at their old values.
//
// The factors of a profile are fractions of a chip's rates, measured on chips at the catalogue's
// rates. A changed chip keeps the factors of its base, because nothing better is known. The table
// here names the factors that depend on each changed rate: an ICI link twice as fast need not reach
// the same fraction of its rate.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/scenario/hardware.h"

namespace podsim::scenarios {

/// A key of `hardware.chip` with a value of the chip.
struct ChipKey {
    std::string_view name;
    /// Factors of topology::Efficiency that were measured at this value; none for capacities,
    /// latencies and shapes.
    std::span<const std::string_view> factors;
    /// Writes the value for people; null without factors.
    std::string (*text)(const topology::ChipSpec& chip, topology::IciRates rates);
    bool (*same)(const topology::ChipSpec& a, const topology::ChipSpec& b,
                 topology::IciRates rates);
};

/// Returns all keys but `base` and `name`, in the order of the schema.
std::span<const ChipKey> chip_keys();

/// Returns the catalogue's chip that the scenario names or changes.
const topology::ChipSpec& base_chip(const Hardware& hardware);

/// Returns the keys whose values differ from the base's: not the name, and no value that equals the
/// base's.
std::vector<const ChipKey*> changed_keys(const Hardware& hardware);

/// Returns the profile in words: `measured`, `measured on v5p; changed: ici_one_way`.
std::string profile_name(const Hardware& hardware);

/// Returns the profile with its version: `measured@10`, `measured on v5p; changed: ici_one_way
/// (version 10)`.
std::string profile_label(const Hardware& hardware);

/// Returns `measured at ici_one_way 90.00 GB/s, which the scenario changes` if a factor was
/// measured at another value than the chip's; empty otherwise.
std::string measured_elsewhere(const Hardware& hardware, std::string_view factor);

/// Returns the warning of a chip that keeps the factors of its base: at most one, and the same for
/// all new values. There is none for the profile `ideal`, nor if the scenario itself says whose
/// factors it takes (`profile: {base: ...}`).
std::vector<std::string> profile_warnings(const Hardware& hardware);

}  // namespace podsim::scenarios
