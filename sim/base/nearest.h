// Finds the valid name that a user most likely meant by an unknown one, for error messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::sim {

/// Returns the name that is fewest edits away from `wanted`, or an empty string if none is near. An
/// edit inserts, deletes, replaces or swaps a letter; case is ignored.
///
/// A name is near if it is at most a third of the longer name's letters away (at least 1, but not
/// all of them), or if one name contains the other. Ties go to the longer common prefix, then to
/// the earlier entry of `names`.
std::string nearest(std::string_view wanted, std::span<const std::string> names);
std::string nearest(std::string_view wanted, std::span<const std::string_view> names);

/// Returns the minimal number of letters to insert, delete, replace or swap with a neighbour that
/// turns one name into the other.
std::size_t edits_between(std::string_view a, std::string_view b);

/// Returns the error for a name that is not among `names`: `unknown chip 'v4'; did you mean 'v4p'?
/// allowed: v3, v4p, v5p`. The question appears only if a name is near.
InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string> names);
InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string_view> names);
/// Like above, for a caller that knows which name is meant.
InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string> names, std::string_view meant);

}  // namespace podsim::sim
