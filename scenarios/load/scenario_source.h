// Where a scenario comes from: a file, or a text in its place.
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

    std::string
        file;  ///< its path; of a text its name in messages, in the folder that relative paths start from
    std::optional<std::string> text{};
    bool has_lines =
        true;  ///< that errors may name: not of a text made from something without them
};

/// A text in place of a file.
ScenarioSource handed_over(const std::filesystem::path& folder, const std::string& name,
                           std::string text, bool has_lines);

/// What a command line names: a file, or standard input as `-`, which is read at once, as are pipes and devices. Throws as read_text_file does.
ScenarioSource named_source(const std::string& name);

/// What is written there. Throws sim::InputError as read_text_file does.
std::string text_of(const ScenarioSource& source);

}  // namespace podsim::scenarios
