// What a step comes to, as a difference compares it: of a simulated step, or of what `podsim run --json` wrote of one.
//
// Times are in whole picoseconds. JSON holds seconds as decimals, from which picoseconds come back exactly below 2^13 s
// (text/json_text.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/describe/shown_scenario.h"
#include "scenarios/explain/shares.h"
#include "scenarios/simulate/step_result.h"
#include "scenarios/text/json_text.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

struct Setting {
    std::string key;
    std::string value;
    bool said = false;  ///< by the scenario or an option: no default, and nothing of a catalogue
};

struct StepFigures {
    std::string name{};
    std::string file{};
    std::string label{};  ///< for people: the file, and what was set
    std::string chip{};
    std::string model{};
    std::int64_t parameters = 0;
    std::int64_t chips = 0;
    std::int64_t tokens = 0;
    /// Of the matmuls; none of a result that was written.
    std::optional<bool> quantised{};
    bool like_published = false;  ///< a training step like a published one, with the profile's band
    std::vector<std::string> warnings{};
    std::vector<Setting> settings{};
    /// Settings are all that `podsim show` has; else what a result without `settings_in_force` says of them.
    bool all_settings = false;

    sim::Time step{};
    std::optional<double> mfu{};
    double tokens_per_s = 0;
    std::vector<Share> stream{};  ///< work by pass and waits by collective: adds up to `step`
    std::vector<Share>
        path{};  ///< adds up to `step`, as `gap` does; both empty where nothing was explained
    std::vector<Share> gap{};  ///< beginning with the lower bound
    double peak = 0;           ///< bytes, as the next two
    double capacity = 0;
    bool fits = false;
    bool tight = false;
    std::vector<std::pair<std::string, double>> at_peak{};
    std::vector<std::pair<std::string, double>> link_bytes{};

    /// What a token takes of the machine: chips x seconds.
    [[nodiscard]] double chip_seconds_per_token() const {
        return static_cast<double>(chips) * step.seconds() / static_cast<double>(tokens);
    }
};

/// The name of the lower bound in `gap`.
inline constexpr const char* kLowerBound = "roofline_lower";

StepFigures figures_of(const ShownScenario& shown, const StepResult& result);

/// Of a JSON document from `file`. Throws sim::InputError there where it is not that of a step, or its terms do not add up.
StepFigures figures_of(const Json& document, const std::string& file);

/// The text as a document of podsim; none where it is something else, as a scenario is.
std::optional<Json> document_in(const std::string& text);

}  // namespace podsim::scenarios
