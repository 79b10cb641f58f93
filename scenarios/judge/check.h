// Whether scenarios are right, how large their runs are, and whether they fit, without running them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/judge/estimate.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/space/search_space.h"
#include "scenarios/watch/watch.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

/// What `podsim search` of a scenario goes over.
struct CheckedSearch {
    std::string name;                 ///< of the scenario
    std::vector<std::string> varies;  ///< keys
    std::uint64_t plans = 0;
};

struct Checked {
    std::string file;
    std::string name;
    std::string kind;  ///< `step`, `program`, `serving`; `search` where only a search takes it
    std::vector<sim::InputError> errors{};  ///< what `run` would say; the rest is left out then
    std::optional<RunSize> size{};  ///< none of a serving run, whose steps follow from its requests
    std::optional<OrderedMemory> memory{};  ///< of a step
    std::optional<CheckedSearch> search{};  ///< of a section `search`, or a mesh that is auto
    double wall_time_s = 0;                 ///< of a run without its explanation, at most, roughly
};

/// Events a second that a run plays at least on the machine of docs/performance.md: steps in which kernels and messages of many chips ask
/// more of their HBM than it gives.
inline constexpr double kEventsPerSecond = 2e6;

/// Those that these name, folders as all in them and below. A folder without any stands for itself: check says what is wrong with it.
std::vector<ScenarioSource> files_to_check(std::span<const ScenarioSource> named);

/// Throws Stopped where the watch ends it.
Checked check(const ScenarioSource& source, std::span<const std::string> settings,
              Watch* watch = nullptr);

bool fits(std::span<const Checked> checked);
std::string check_text(std::span<const Checked> checked);
Json check_json(std::span<const Checked> checked);

}  // namespace podsim::scenarios
