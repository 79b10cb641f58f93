// Shows a scenario with every default filled in, and the origin of each value.
//
// The values are those that the loader read (reading_log.h). The text is a scenario that runs to
// the same step. Its keys are the values that the scenario states, and defaults. A value that a
// catalogue or a file fixes by its name is a comment beside that name. A default that may not be
// written here (scales of bf16 matmuls) is left out. The text is loaded to find these defaults, and
// every key of it must then read as it did before.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/load.h"

namespace podsim::scenarios {

enum class Origin {
    file,      ///< the scenario
    option,    ///< `--set`
    fallback,  ///< the key's default
    /// An entry that the scenario names: a chip, a model, a profile.
    catalogue,
    rule,  ///< computed
};

std::string_view to_string(Origin origin);

struct ShownKey {
    std::string place;  ///< `training.remat`, `perturb[0].kind`
    std::string value;
    Origin origin{};
    std::string from;  ///< `file.yaml:7`, `--set training.remat=full`, a source, a rule
    /// The value that it is worked out as, if that is another text.
    std::string comes_to;
    /// True for a key of the text; otherwise a comment, or nothing if it may not be written.
    bool written = false;
};

struct ShownScenario {
    Scenario scenario;
    std::vector<ShownKey> keys;
    std::string text;  ///< YAML
};

/// Shows a scenario with its settings. Throws as load_scenario does.
ShownScenario show_scenario(const ScenarioSource& source, std::span<const std::string> settings);
/// Shows a tree from `path`, to which all settings have been applied.
ShownScenario show_scenario(YamlNode tree, const std::string& path);

/// Returns the keys alone, of which none is `written`: no text is made of them.
std::vector<ShownKey> settings_in_force(const ScenarioSource& source,
                                        std::span<const std::string> settings);

Json shown_json(const ShownScenario& shown);

/// Returns `{said: {key: value}, defaults: {key: value}}`: the values of the scenario or an option,
/// and all others. A value is replaced by what it is worked out as.
Json settings_json(std::span<const ShownKey> keys);

}  // namespace podsim::scenarios
