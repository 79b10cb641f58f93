// Errors of files that a command should write or that an input names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/base/error.h"

namespace podsim::scenarios {

/// Returns the error of a file that cannot be written, for the option that names it. `reason` is a
/// value of errno, 0 if unknown.
sim::InputError cannot_write(std::string_view option, const std::string& path, int reason);

/// Throws sim::InputError if a file cannot be read. The error has no source position, which the
/// caller knows.
void check_readable(const std::filesystem::path& path, const std::string& remedy);

}  // namespace podsim::scenarios
