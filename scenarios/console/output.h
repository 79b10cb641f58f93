// Files that a command writes.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/console/usage.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// Refuses `-` as the path of an option other than --json.
void refuse_dash(std::string_view option, const std::string& path);

/// The path of an option that names a file to write, empty where it is not given. Before any work is done throws cannot_write when
/// nothing could be written there, and sim::InputError for a file that the command reads, that another of its options names, or
/// that is a scenario of people's own; creates nothing.
std::string output_path(const Usage& options, const std::string& name);

/// Throws sim::InputError for a path at which `option` would overwrite what the command reads, what another of its options names, or a scenario that
/// people have written.
void refuse_lost_files(const Usage& options, const std::string& name, const std::string& path);

/// An option that names a file to write, and that file.
struct NamedOutput {
    std::string option;
    std::string path;
};

/// Those of the options; `-` is none.
std::vector<NamedOutput> outputs_of(const Usage& options);

/// Throws sim::InputError where the output is the file `input`, which is read, by whatever name.
void refuse_lost_input(const NamedOutput& output, const std::string& input);

/// Writes JSON to a path, or to `out` for `-`. Throws sim::InputError when the file cannot be
/// written.
void write_json(const Json& json, const std::string& path, std::ostream& out);

/// Writes a text to the file that `option` names. Throws cannot_write when not all of it arrived.
void write_file(std::string_view option, const std::string& path, const std::string& text);

}  // namespace podsim::scenarios
