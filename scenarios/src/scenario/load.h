// Loads a validated scenario from a YAML file.
//
// One table has the keys, their defaults and their meanings: schema_keys.cpp (`podsim help keys`
// prints it). Limits keep hostile values from exhausting memory: 100000 chips, 4096 layers, 2^40
// tokens a batch, messages of at least 4 KiB, files of 1 MiB.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/src/scenario/reader.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/scenario/search_section.h"
#include "scenarios/src/scenario/yaml_tree.h"

namespace podsim::workloads {
struct ModelSpec;
}  // namespace podsim::workloads

namespace podsim::scenarios {

inline constexpr int kMostChips = 100000;  ///< of all slices
inline constexpr int kMostSlices = 4096;

/// The rule for requests that a scenario serves (`serving:`): refused, required, or allowed.
enum class Requests { none, some, any };

/// Reads a scenario. `settings` are `key.path=value` texts (`--set`), applied to the YAML tree in
/// order before anything is checked. Paths inside the file are relative to the file. Throws
/// sim::InputError at file:line:column, or at the `--set` option, of a fault; sim::InputErrors for
/// several faults of which none only follows from another.
Scenario load_scenario(const ScenarioSource& source, std::span<const std::string> settings = {},
                       Requests requests = Requests::none);

/// Reads the YAML of a scenario once; load_scenario makes many scenarios from it.
YamlNode read_scenario(const ScenarioSource& source);
/// Makes the scenario of a tree from `path`, to which all settings have been applied. Throws as
/// above.
Scenario load_scenario(const YamlNode& tree, const std::string& path,
                       Requests requests = Requests::none);

/// Read the machine or the model of a tree, whatever else the tree has. Throw as above.
IdealHardware load_hardware(const YamlNode& tree, const std::string& path);
workloads::ModelSpec load_model(const YamlNode& tree, const std::string& path);

/// Reads the search section of a tree without the keys that vary. Throws as above.
SearchSection load_search(const YamlNode& tree);
std::string_view to_string(SearchObjective objective);

/// Likewise, with a log of the values that were asked for (reading_log.h); also for a scenario with
/// faults.
Scenario load_scenario(const YamlNode& tree, const std::string& path, Requests requests,
                       ReadingLog& log);

/// Loads several scenarios, serving ones too. Throws sim::InputErrors with the faults of all of
/// them.
std::vector<Scenario> load_scenarios(std::span<const ScenarioSource> sources);

/// Returns the value of `name:` in a file, or the file's stem without one, for listings. Throws as
/// load_scenario does for a text that is not YAML.
std::string scenario_title(const std::string& path);

/// The hardware of a command line, option by option as given.
struct HardwareOptions {
    /// A chip of the catalogue; if empty, that of a slice given by name.
    std::string chip;
    std::string slice;  ///< `4x4x8`, `v5p-256`
    bool twisted = false;
    std::string latency = "additive";
    std::string hbm = "shared";
};

/// Return the possible values of `latency` and `hbm`.
std::vector<std::string> latency_rule_names();
std::vector<std::string> hbm_rule_names();

/// Throws sim::InputError that names the option.
IdealHardware hardware_from_options(const HardwareOptions& options);

/// Reads the members of a collective from the factors of its axes: `xyz` (whole axes, letters run
/// together), `x%4 y`, `xyz slice`. Throws sim::InputError.
collectives::Members parse_members(const std::string& text, const topology::Lattice& slice,
                                   int slices = 1);

}  // namespace podsim::scenarios
