// Where the tests find the files of the repository and the built program.
#pragma once

#include <string>

namespace podsim {

/// The top folder of the repository, without a slash at its end.
std::string source_folder();

/// The path of the program `podsim`.
std::string program_path();

}  // namespace podsim
