// A chip that a scenario changes: which keys of its base differ, and which factors of a profile were measured on them.
//
// The factors of a profile are shares of a chip's rates, measured on chips at the catalogue's rates. A chip that changes
// some of them keeps the factors of its base, since nothing better is known; the table here says which of them stand for
// the rate that was changed: an ICI link twice as fast need not reach the same share of its rate.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/spec/hardware.h"

namespace podsim::scenarios {

/// A key of `hardware.chip` with a value of the chip.
struct ChipKey {
    std::string_view name;
    /// Factors of topology::Efficiency that were measured at this value; none of capacities, latencies and shapes.
    std::span<const std::string_view> factors;
    /// The value as people read it, where there are factors.
    std::string (*text)(const topology::ChipSpec& chip, topology::IciRates rates);
    bool (*same)(const topology::ChipSpec& a, const topology::ChipSpec& b,
                 topology::IciRates rates);
};

/// All keys but `base` and `name`, in the order of the schema.
std::span<const ChipKey> chip_keys();

/// The catalogue's chip that the scenario names or changes.
const topology::ChipSpec& base_chip(const Hardware& hardware);

/// The keys whose values differ from the base's: no name, and no value that the base has anyway.
std::vector<const ChipKey*> changed_keys(const Hardware& hardware);

/// The profile in words: `measured`, `measured on v5p; changed: ici_one_way`.
std::string profile_name(const Hardware& hardware);

/// The same with its version: `measured@10`, `measured on v5p; changed: ici_one_way (version 10)`.
std::string profile_label(const Hardware& hardware);

/// Where a factor was measured at another value than the chip has: `measured at ici_one_way 90.00 GB/s, which the scenario
/// changes`; else empty.
std::string measured_elsewhere(const Hardware& hardware, std::string_view factor);

/// The warning of a chip that keeps the factors of its base: at most one, which does not depend on the new values. None of the
/// profile `ideal`, nor where the scenario itself says whose factors it takes (`profile: {base: ...}`).
std::vector<std::string> profile_warnings(const Hardware& hardware);

}  // namespace podsim::scenarios
