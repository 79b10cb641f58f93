#include "scenarios/src/cli/lost_inputs.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "scenarios/src/cli/output.h"
#include "scenarios/src/scenario/load.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

namespace fs = std::filesystem;

/// The keys whose values may be the paths of files, relative to the scenario's.
constexpr std::string_view kFileKeys[] = {"hf_config", "profile", "trace", "lengths"};

void add_named(const YamlNode& node, std::string_view key, const fs::path& folder,
               std::vector<std::string>& files) {
    if (node.kind == YamlNode::Kind::scalar && std::ranges::count(kFileKeys, key) > 0) {
        files.push_back((folder / node.text).string());
    }
    for (const YamlNode& item : node.items) {
        add_named(item, key, folder, files);
    }
    for (const YamlNode::Entry& entry : node.entries) {
        add_named(entry.value, entry.key, folder, files);
    }
}

/// Adds the files that a scenario names. Errors in it are ignored here and reported where it is
/// read.
void add_named_by(const ScenarioSource& scenario, const Usage& options,
                  std::span<const Varied> varied, std::vector<std::string>& files) {
    const fs::path folder = fs::path(scenario.file).parent_path();
    try {
        YamlNode tree = read_scenario(scenario);
        add_named(tree, "", folder, files);
        for (const char* const option : {"set", "set-a", "set-b"}) {
            for (const std::string& setting : options.all(option)) {
                apply_setting(tree, setting);
                add_named(tree, "", folder, files);
            }
        }
        for (const Varied& each : varied) {
            const std::string last = each.key.substr(each.key.rfind('.') + 1);
            for (const YamlNode& value : each.values) {
                add_named(value, last, folder, files);
            }
        }
    } catch (const sim::InputError&) {
        return;
    }
}

}  // namespace

void refuse_lost_inputs(const Usage& options, std::span<const ScenarioSource> scenarios,
                        std::span<const std::string> more, std::span<const Varied> varied) {
    std::vector<NamedOutput> outputs = outputs_of(options);
    for (const std::string& path : more) {
        outputs.push_back({"write", path});
    }
    if (outputs.empty()) {
        return;
    }
    std::vector<std::string> inputs = options.all("read");
    for (const ScenarioSource& scenario : scenarios) {
        if (!scenario.text) {
            inputs.push_back(scenario.file);
        }
        add_named_by(scenario, options, varied, inputs);
    }
    for (const NamedOutput& output : outputs) {
        for (const std::string& input : inputs) {
            refuse_lost_input(output, input);
        }
    }
}

}  // namespace podsim::scenarios
