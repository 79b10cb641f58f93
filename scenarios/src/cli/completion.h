// Scripts that complete command lines of podsim, one per shell.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/cli/manual.h"

namespace podsim::scenarios {

/// bash, zsh and fish.
std::vector<std::string> completed_shells();

/// Returns the script for a shell. Throws sim::InputError for others.
std::string completion_script(const std::string& shell, const Manual& manual);

/// Each script completes commands, options, the values offered for them, and files. Behind --set
/// and --vary it completes the keys of scenarios and the names that are their values.
std::string bash_completion(const Manual& manual);
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

}  // namespace podsim::scenarios
