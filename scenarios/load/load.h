// From a YAML file to a validated scenario.
//
// The keys, their defaults and meanings stand in one table: schema_keys.cpp (`podsim run --help` prints
// it). Limits that keep hostile values from exhausting memory: 100000 chips, 4096 layers, 2^40
// tokens a batch, messages of at least 4 KiB, files of 1 MiB.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/load/scenario_source.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/spec/search_section.h"
#include "scenarios/yaml/reader.h"
#include "scenarios/yaml/yaml_tree.h"

namespace podsim::workloads {
struct ModelSpec;
}  // namespace podsim::workloads

namespace podsim::scenarios {

inline constexpr int kMostChips = 100000;  ///< of all slices
inline constexpr int kMostSlices = 4096;

/// Whether the scenario is asked for requests that it serves (`serving:`): refused, needed, or as it may be.
enum class Requests { none, some, any };

/// Reads a scenario. `settings` are `key.path=value` texts (`--set`), applied to the YAML tree in
/// their order before anything is checked; paths inside the file are relative to the file.
/// Throws sim::InputError at file:line:column, or at the `--set` option, of what is wrong; sim::InputErrors where that is
/// several things of which none only follows from another.
Scenario load_scenario(const ScenarioSource& source, std::span<const std::string> settings = {},
                       Requests requests = Requests::none);

/// The YAML of a scenario, read once, from which load_scenario makes many.
YamlNode read_scenario(const ScenarioSource& source);
/// The scenario of a tree from `path`, to which all settings have been applied. Throws as above.
Scenario load_scenario(const YamlNode& tree, const std::string& path,
                       Requests requests = Requests::none);

/// What a tree says of its machine, and of its model, whatever else it says. Throw as above.
IdealHardware load_hardware(const YamlNode& tree, const std::string& path);
workloads::ModelSpec load_model(const YamlNode& tree, const std::string& path);

/// What a tree asks of a search besides what is to vary. Throws as above.
SearchSection load_search(const YamlNode& tree);
std::string_view to_string(SearchObjective objective);

/// The same, with what was asked of it (yaml/reading_log.h), of a scenario with faults, too.
Scenario load_scenario(const YamlNode& tree, const std::string& path, Requests requests,
                       ReadingLog& log);

/// Several scenarios, serving ones too; throws sim::InputErrors of what is wrong in all of them.
std::vector<Scenario> load_scenarios(std::span<const ScenarioSource> sources);

/// The value of `name:` in a file, or its stem without one; for listings. Throws as load_scenario
/// does for what is not YAML.
std::string scenario_title(const std::string& path);

/// The hardware of a command line, option by option as it was given.
struct HardwareOptions {
    std::string chip;   ///< of the catalogue; empty: that of a slice by name
    std::string slice;  ///< `4x4x8`, `v5p-256`
    bool twisted = false;
    std::string latency = "additive";
    std::string hbm = "shared";
};

/// What those two may be.
std::vector<std::string> latency_rule_names();
std::vector<std::string> hbm_rule_names();

/// Throws sim::InputError naming the option.
IdealHardware hardware_from_options(const HardwareOptions& options);

/// The members of a collective from the factors of its axes: `xyz` (whole axes, letters run
/// together), `x%4 y`, `xyz slice`. Throws sim::InputError.
collectives::Members parse_members(const std::string& text, const topology::Lattice& slice,
                                   int slices = 1);

}  // namespace podsim::scenarios
