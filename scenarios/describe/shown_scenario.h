// A scenario with every default filled in, and where each value comes from.
//
// What stands there is what the loader read (yaml/reading_log.h). The text is a scenario that runs to the same step: values that the
// scenario says, and defaults, are keys; what a catalogue or a file fixes by its name stands beside that name as a comment. A default
// that may not be written here (scales of bf16 matmuls) is left out: the text is loaded to find which those are, and every key of it
// must then read as it did before.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/load/load.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

enum class Origin {
    file,       ///< the scenario
    option,     ///< `--set`
    fallback,   ///< the key's default
    catalogue,  ///< of what the scenario names: a chip, a model, a profile
    rule,       ///< worked out
};

std::string_view to_string(Origin origin);

struct ShownKey {
    std::string place;  ///< `training.remat`, `perturb[0].kind`
    std::string value;
    Origin origin{};
    std::string from;      ///< `file.yaml:7`, `--set training.remat=full`, a source, a rule
    std::string comes_to;  ///< what the value is worked out as, where that is another text
    bool written =
        false;  ///< a key of the text; else a comment, or nothing where it may not be written
};

struct ShownScenario {
    Scenario scenario;
    std::vector<ShownKey> keys;
    std::string text;  ///< YAML
};

/// Throws as load_scenario does.
ShownScenario show_scenario(const ScenarioSource& source, std::span<const std::string> settings);
/// Of a tree from `path`, to which all settings have been applied.
ShownScenario show_scenario(YamlNode tree, const std::string& path);

/// The keys alone, of which none is `written`: no text is made of them.
std::vector<ShownKey> settings_in_force(const ScenarioSource& source,
                                        std::span<const std::string> settings);

Json shown_json(const ShownScenario& shown);

/// `{said: {key: value}, defaults: {key: value}}`: what the scenario or an option says, and all else; what a value comes to in place of it.
Json settings_json(std::span<const ShownKey> keys);

}  // namespace podsim::scenarios
