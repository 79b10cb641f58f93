// What is wrong with a file that a command should write, or that an input names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::scenarios {

/// The error of a file that cannot be written, at the option that names it; `reason` is errno's value, 0 where it is not
/// known.
sim::InputError cannot_write(std::string_view option, const std::string& path, int reason);

/// Throws an error without a place, for whoever knows where the file is named, where it cannot be read.
void check_readable(const std::filesystem::path& path, const std::string& remedy);

}  // namespace podsim::scenarios
