// Checks of scenarios without a run: are they valid, how large are their runs, do they fit?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/cli/estimate.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/search/search_space.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

/// The space that `podsim search` of a scenario enumerates.
struct CheckedSearch {
    std::string name;                 ///< of the scenario
    std::vector<std::string> varies;  ///< keys
    std::uint64_t plans = 0;
};

struct Checked {
    std::string file;
    std::string name;
    /// `step`, `program` or `serving`; `search` if only a search accepts the scenario.
    std::string kind;
    /// Errors that `run` would report; all other fields are then empty.
    std::vector<sim::InputError> errors{};
    /// Empty for a serving run, whose steps follow from its requests.
    std::optional<RunSize> size{};
    std::optional<OrderedMemory> memory{};  ///< of a step
    /// Set for a section `search` or an automatic mesh.
    std::optional<CheckedSearch> search{};
    /// Rough upper bound for a run without its explanation.
    double wall_time_s = 0;
};

/// Lower bound of the events that a run plays per second on the machine of docs/performance.md. It
/// is that of steps in which kernels and messages of many chips ask for more bandwidth than their
/// HBM has.
inline constexpr double kEventsPerSecond = 2e6;

/// Returns the scenarios that `named` names; a folder stands for all scenarios in it and below. A
/// folder without any stands for itself, so that check() reports the error.
std::vector<ScenarioSource> files_to_check(std::span<const ScenarioSource> named);

/// Checks one scenario with settings applied. Throws Stopped if the watch ends it.
Checked check(const ScenarioSource& source, std::span<const std::string> settings,
              Watch* watch = nullptr);

bool fits(std::span<const Checked> checked);
std::string check_text(std::span<const Checked> checked);
Json check_json(std::span<const Checked> checked);

}  // namespace podsim::scenarios
