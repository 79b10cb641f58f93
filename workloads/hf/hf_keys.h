// The keys of configs by what they are for.
#pragma once

#include <span>
#include <string_view>

namespace podsim::workloads {

/// The keys that some family reads: none of them is a slip of another.
std::span<const std::string_view> hf_keys();

/// Why a key leaves a step's time as it is; empty for one that is not known to.
std::string_view why_ignored(std::string_view key);

}  // namespace podsim::workloads
