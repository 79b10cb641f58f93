// Scripts that complete command lines of podsim, in the languages of shells.
#pragma once

#include <string>
#include <vector>

#include "scenarios/manual/manual.h"

namespace podsim::scenarios {

/// bash, zsh and fish.
std::vector<std::string> completed_shells();

/// The script for one of them. Throws sim::InputError for others.
std::string completion_script(const std::string& shell, const Manual& manual);

/// Commands, options, what is offered for their values, files, and the keys of scenarios behind --set and --vary with the
/// names that are their values.
std::string bash_completion(const Manual& manual);
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

}  // namespace podsim::scenarios
