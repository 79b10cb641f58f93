// Declares the keys of a scenario once: the table that schema.cpp checks against.
#pragma once

#include <span>

#include "scenarios/src/scenario/schema.h"

namespace podsim::scenarios {

/// Returns the keys of a scenario in the order of its reference: how each is written, its default
/// and its meaning. Those of `expect` follow from the quantities and are not among them.
std::span<const KeySpec> written_keys();
/// Returns those of `serving`, which are behind all others.
std::span<const KeySpec> serving_keys();

}  // namespace podsim::scenarios
