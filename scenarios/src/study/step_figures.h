// The figures of a step that a difference compares, from a simulated step or from the output of
// `podsim run --json`.
//
// Times are in whole picoseconds. JSON holds seconds as decimals, from which picoseconds return
// exactly below 2^13 s (base/json_text.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/shown_scenario.h"
#include "scenarios/src/simulate/shares.h"
#include "scenarios/src/simulate/step_result.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

struct Setting {
    std::string key;
    std::string value;
    /// True if the scenario or an option states it: it is neither a default nor from a catalogue.
    bool said = false;
};

struct StepFigures {
    std::string name{};
    std::string file{};
    /// For readers: the file, and the options that were set.
    std::string label{};
    std::string chip{};
    std::string model{};
    std::int64_t parameters = 0;
    std::int64_t chips = 0;
    std::int64_t tokens = 0;
    /// True if the matmuls are quantised; none for a written result.
    std::optional<bool> quantised{};
    /// True for a training step like a published one, with the profile's band.
    bool like_published = false;
    std::vector<std::string> warnings{};
    std::vector<Setting> settings{};
    /// True if the settings are all that `podsim show` has. Otherwise they are those that a result
    /// without `settings_in_force` states.
    bool all_settings = false;

    sim::Time step{};
    std::optional<double> mfu{};
    double tokens_per_s = 0;
    /// Work by pass and waits by collective; they add up to `step`.
    std::vector<Share> stream{};
    /// Adds up to `step`, like `gap`; both are empty if nothing was explained.
    std::vector<Share> path{};
    std::vector<Share> gap{};  ///< begins with the lower bound
    double peak = 0;           ///< bytes, like the next field
    double capacity = 0;
    bool fits = false;
    bool tight = false;
    std::vector<std::pair<std::string, double>> at_peak{};
    std::vector<std::pair<std::string, double>> link_bytes{};

    /// Returns the machine time of a token: chips x seconds.
    [[nodiscard]] double chip_seconds_per_token() const {
        return static_cast<double>(chips) * step.seconds() / static_cast<double>(tokens);
    }
};

/// Name of the lower bound in `gap`.
inline constexpr const char* kLowerBound = "roofline_lower";

StepFigures figures_of(const ShownScenario& shown, const StepResult& result);

/// Reads the figures off a JSON document from `file`. Throws sim::InputError at that file if it is
/// not the result of a step, or if its terms do not add up.
StepFigures figures_of(const Json& document, const std::string& file);

/// Returns the text as a document of podsim; none if it is anything else, such as a scenario.
std::optional<Json> document_in(const std::string& text);

}  // namespace podsim::scenarios
