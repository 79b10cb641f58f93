// Functions that a class declares, read from its text.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace podsim::house {

/// Returns the member functions (also constructors) of each class and struct that the lines define,
/// as written up to their parameters. Expects code as clang-format leaves it; macros and templates
/// in initialisers are not parsed.
std::map<std::string, std::vector<std::string>> functions_of_classes(
    const std::vector<std::string>& lines);

}  // namespace podsim::house
