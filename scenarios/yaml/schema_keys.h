// The keys of a scenario, declared once: the table that schema.cpp checks against.
#pragma once

#include <span>

#include "scenarios/yaml/schema.h"

namespace podsim::scenarios {

/// The keys of a scenario as they stand in its reference, in that order: how each is written, its
/// default and its meaning. Those of `expect` follow from the quantities and are not among them.
std::span<const KeySpec> written_keys();
/// Those of `serving`, which stand behind all others.
std::span<const KeySpec> serving_keys();

}  // namespace podsim::scenarios
