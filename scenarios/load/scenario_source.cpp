#include "scenarios/load/scenario_source.h"

#include "scenarios/yaml/yaml_tree.h"

namespace podsim::scenarios {

ScenarioSource handed_over(const std::filesystem::path& folder, const std::string& name,
                           std::string text, bool has_lines) {
    ScenarioSource source((folder / name).string());
    source.text = std::move(text);
    source.has_lines = has_lines;
    return source;
}

std::string text_of(const ScenarioSource& source) {
    if (!source.text) {
        return read_text_file(source.file);
    }
    check_text(*source.text, source.file);
    return *source.text;
}

}  // namespace podsim::scenarios
