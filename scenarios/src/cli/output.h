// Files that a command writes.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/cli/usage.h"

namespace podsim::scenarios {

/// Refuses `-` as the path of an option other than --json.
void refuse_dash(std::string_view option, const std::string& path);

/// Returns the path of an option that names a file to write; empty if not given. Creates nothing.
/// Throws cannot_write before any work is done if the path is not writable. Throws sim::InputError
/// for a file that the command reads, that another of its options names, or that is a scenario
/// written by people.
std::string output_path(const Usage& options, const std::string& name);

/// Throws sim::InputError if `option` would overwrite a file that the command reads, one that
/// another of its options names, or a scenario written by people.
void refuse_lost_files(const Usage& options, const std::string& name, const std::string& path);

/// An option that names a file to write, with that file.
struct NamedOutput {
    std::string option;
    std::string path;
};

/// Returns the outputs of the options; `-` is not one.
std::vector<NamedOutput> outputs_of(const Usage& options);

/// Throws sim::InputError if the output is the file `input`, under whatever name.
void refuse_lost_input(const NamedOutput& output, const std::string& input);

/// Writes JSON to a path, or to `out` for `-`. Throws sim::InputError if the file cannot be
/// written.
void write_json(const Json& json, const std::string& path, std::ostream& out);

/// Writes a text to the file that `option` names. Throws cannot_write if it is not written in full.
void write_file(std::string_view option, const std::string& path, const std::string& text);

}  // namespace podsim::scenarios
