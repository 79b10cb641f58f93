// Paths of the repository and of the built program, for the tests.
#pragma once

#include <string>

namespace podsim {

/// Returns the top folder of the repository, without a slash at its end.
std::string source_folder();

/// Returns the path of the program `podsim`.
std::string program_path();

}  // namespace podsim
