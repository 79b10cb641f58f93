#include "scenarios/src/scenario/scenario_source.h"

#include <iostream>

#include "scenarios/src/scenario/yaml_tree.h"

namespace podsim::scenarios {

ScenarioSource handed_over(const std::filesystem::path& folder, const std::string& name,
                           std::string text, bool has_lines) {
    ScenarioSource source((folder / name).string());
    source.text = std::move(text);
    source.has_lines = has_lines;
    return source;
}

ScenarioSource named_source(const std::string& name) {
    if (name != "-") {
        std::error_code unknown;
        const std::filesystem::file_type type = std::filesystem::status(name, unknown).type();
        const bool again = type == std::filesystem::file_type::regular ||
                           type == std::filesystem::file_type::directory ||
                           type == std::filesystem::file_type::not_found ||
                           type == std::filesystem::file_type::none;
        // The content of a pipe is gone once it was read.
        return again ? ScenarioSource(name) : handed_over("", name, read_text_file(name), true);
    }
    std::string text(kLargestFile + 1, '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::cin.gcount()));
    return handed_over("", "standard input", std::move(text), true);
}

std::string text_of(const ScenarioSource& source) {
    if (!source.text) {
        return read_text_file(source.file);
    }
    check_text(*source.text, source.file);
    return *source.text;
}

}  // namespace podsim::scenarios
