// The source of a scenario: a file, or a text in place of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace podsim::scenarios {

struct ScenarioSource {
    // NOLINTBEGIN(google-explicit-constructor): a path stands for its file
    ScenarioSource(std::string path) : file(std::move(path)) {}
    ScenarioSource(const char* path) : file(path) {}
    // NOLINTEND(google-explicit-constructor)

    /// Path of the file. For a text, its name in messages, in the folder from which relative paths
    /// start.
    std::string file;
    std::optional<std::string> text{};
    /// True if errors may name lines; false for a text made from something without them.
    bool has_lines = true;
};

/// Returns a source with a text in place of a file.
ScenarioSource handed_over(const std::filesystem::path& folder, const std::string& name,
                           std::string text, bool has_lines);

/// Returns the source that a command line names: a file, or standard input as `-`. Standard input
/// is read at once, as are pipes and devices. Throws as read_text_file does.
ScenarioSource named_source(const std::string& name);

/// Returns the text of a source. Throws sim::InputError as read_text_file does.
std::string text_of(const ScenarioSource& source);

}  // namespace podsim::scenarios
