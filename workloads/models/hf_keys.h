// The keys of configs by their purpose.
#pragma once

#include <span>
#include <string_view>

namespace podsim::workloads {

/// Returns the keys that a family reads: none of them is a misspelling of another.
std::span<const std::string_view> hf_keys();

/// Returns why a key leaves a step's time as it is; empty if there is no known reason.
std::string_view why_ignored(std::string_view key);

}  // namespace podsim::workloads
