// Shapes as text: the lengths of a box of chips.
#pragma once

#include <string>
#include <string_view>

#include "topology/lattice/lattice.h"

namespace podsim::topology {

/// Returns a Cloud shape or slice name without its twist suffix: `4x4x8_twisted`,
/// `v4-4x4x8_untwisted`.
std::string_view without_twist(std::string_view text);
/// Throws sim::InputError if the text has a twist suffix: twist is a separate setting.
void refuse_twist(std::string_view text);

/// Reads `16x20x28` or `8x4` (missing axes have length 1). Throws sim::InputError for anything but
/// one to three positive whole numbers joined by `x`, and beyond 2^20 chips.
Point parse_shape(std::string_view text);
/// Returns `16x20x28`, or `8x4` for 2 dimensions.
std::string to_string(const Point& shape, int dimensions = kAxes);

}  // namespace podsim::topology
