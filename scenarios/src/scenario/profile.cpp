#include "scenarios/src/scenario/profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

#include "scenarios/src/base/quote.h"
#include "sim/base/nearest.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

/// The band of `measured`: 80 % of the 22 steps in scenarios/blind whose programs are MaxText's or
/// PyTorch/XLA's lie within it. It is half as wide again for steps that are unlike them.
constexpr double kLike = 0.138;
constexpr double kUnlike = 0.208;

/// The narrowest models under scenarios/published: Gemma 3 12B and DeepSeek-V2-Lite.
constexpr std::int64_t kNarrowestDense = 3840;
constexpr std::int64_t kNarrowestExperts = 2048;

/// Returns the kinds of steps under scenarios/published.
std::vector<StepKind> published_kinds() {
    std::vector<StepKind> kinds;
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        for (const std::string& kind : chip.published) {
            kinds.push_back(
                {chip.name, kind.starts_with("experts "), kind.ends_with(" quantised")});
        }
    }
    return kinds;
}

}  // namespace

Profile measured_profile() {
    Profile profile{
        .name = "measured",
        .version = std::string(topology::kMeasuredVersion),
        .chips = {},
        .band = ErrorBand{kLike, kUnlike, published_kinds(), kNarrowestDense, kNarrowestExperts}};
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        if (const auto efficiency = topology::measured_efficiency(chip.name)) {
            profile.chips[chip.name] = *efficiency;
        }
    }
    return profile;
}

topology::Efficiency base_factors(const std::string& text) {
    if (text == "ideal") {
        return {};
    }
    if (const auto measured = topology::measured_efficiency(text); measured && !text.empty()) {
        return *measured;
    }
    std::vector<std::string_view> allowed{"ideal"};
    bool known = false;
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        known = known || chip.name == text;
        if (topology::measured_efficiency(chip.name).has_value()) {
            allowed.push_back(chip.name);
        }
    }
    if (known) {
        throw sim::InputError(fmt::format("nothing was measured on {}", text),
                              fmt::format("allowed: {}", fmt::join(allowed, ", ")));
    }
    throw sim::unknown_name("chip", printable(text), allowed);
}

const topology::EfficiencyFactor& find_factor(std::string_view name) {
    std::vector<std::string_view> names;
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        if (factor.name == name) {
            return factor;
        }
        names.push_back(factor.name);
    }
    throw sim::unknown_name("factor", name, names);
}

}  // namespace podsim::scenarios
