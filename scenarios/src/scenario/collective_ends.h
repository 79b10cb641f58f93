// The chips between which a collective runs, as users write them.
#pragma once

#include <string>

#include "collectives/vocabulary/collective_call.h"
#include "scenarios/src/scenario/scenario.h"

namespace podsim::scenarios {

/// Reads a chip of the slice: `3,3,0`, or `0,3` on two axes. Throws sim::InputError.
topology::Point parse_chip(const std::string& text, const Hardware& hardware);

/// Writes a chip as parse_chip reads it: the coordinates along the axes of the chip's generation.
std::string chip_text(const topology::Point& chip, const Hardware& hardware);

/// Reads the shift of a permute within a group. Throws sim::InputError for a shift that moves
/// nothing.
int parse_shift(const std::string& text, const collectives::Group& group);

}  // namespace podsim::scenarios
