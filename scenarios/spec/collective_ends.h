// The chips that a collective is between, as users write them.
#pragma once

#include <string>

#include "collectives/vocabulary/collective_call.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

/// A chip of the slice: `3,3,0`, `0,3` on two axes. Throws sim::InputError.
topology::Point parse_chip(const std::string& text, const Hardware& hardware);

/// What parse_chip reads: the coordinates along the axes that the chip's generation has.
std::string chip_text(const topology::Point& chip, const Hardware& hardware);

/// The shift of a permute within a group. Throws sim::InputError for one that moves nothing.
int parse_shift(const std::string& text, const collectives::Group& group);

}  // namespace podsim::scenarios
