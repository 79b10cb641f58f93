// Shapes as text: the lengths of a box of chips.
#pragma once

#include <string>
#include <string_view>

#include "topology/lattice/lattice.h"

namespace podsim::topology {

/// Reads `16x20x28` or `8x4` (missing axes have length 1). Throws sim::InputError for anything but
/// one to three positive whole numbers joined by `x`, and beyond 2^20 chips.
Point parse_shape(std::string_view text);
/// `16x20x28`, or `8x4` for 2 dimensions.
std::string to_string(const Point& shape, int dimensions = kAxes);

}  // namespace podsim::topology
