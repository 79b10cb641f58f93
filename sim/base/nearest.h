// The nearest valid name, for error messages: what a user most likely meant by a name we do not
// know.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::sim {

/// The name that is fewest edits away from `wanted` (insert, delete, replace or swap a letter; case
/// does not count), or nothing when none is near.
///
/// Near means at most a third of the longer name's letters (at least 1, but not all of them), or one containing the
/// other. Of equally near names the one with the longer common start wins, then the earlier in
/// `names`.
std::string nearest(std::string_view wanted, std::span<const std::string> names);
std::string nearest(std::string_view wanted, std::span<const std::string_view> names);

/// The fewest letters to insert, delete, replace or swap with a neighbour that make one name of the other.
std::size_t edits_between(std::string_view a, std::string_view b);

/// The error for a name that is not among `names`:
/// `unknown chip 'v4'; did you mean 'v4p'? allowed: v3, v4p, v5p` (the question only when one is
/// near).
InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string> names);
InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string_view> names);
/// The same where the name that may be meant is known.
InputError unknown_name(std::string_view what, std::string_view wanted,
                        std::span<const std::string> names, std::string_view meant);

}  // namespace podsim::sim
