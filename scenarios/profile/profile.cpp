#include "scenarios/profile/profile.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

#include "scenarios/text/quote.h"
#include "sim/base/nearest.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

/// The band of a version, as `podsim calibrate scenarios/published` printed it; since version 8 that of steps that it was not
/// fitted to: 80 % of the 22 in scenarios/blind whose programs are MaxText's or PyTorch/XLA's, and half as wide again.
struct VersionBand {
    std::string_view version;
    double like;
    double unlike;
};

// Versions 1 and 2 were fitted before there was a band.
constexpr std::array kBands{VersionBand{"11", 0.138, 0.208}, VersionBand{"10", 0.146, 0.219},
                            VersionBand{"9", 0.130, 0.195},  VersionBand{"8", 0.126, 0.189},
                            VersionBand{"7", 0.081, 0.122},  VersionBand{"6", 0.081, 0.122},
                            VersionBand{"5", 0.135, 0.202},  VersionBand{"4", 0.118, 0.191},
                            VersionBand{"3", 0.202, 0.302}};

/// The kinds of steps under scenarios/published, and their narrowest models: Gemma 3 12B and DeepSeek-V2-Lite.
constexpr std::int64_t kNarrowestDense = 3840;
constexpr std::int64_t kNarrowestExperts = 2048;
const StepKind kPublishedKinds[] = {
    {"v4p", false, false},   {"v5e", false, false},  {"v5p", false, false},  {"v5p", false, true},
    {"v5p", true, false},    {"v6e", false, false},  {"v6e", false, true},   {"v6e", true, false},
    {"tpu7x", false, false}, {"tpu7x", false, true}, {"tpu7x", true, false}, {"tpu7x", true, true},
};

}  // namespace

std::optional<Profile> measured_profile(const std::string& version) {
    const auto versions = topology::profile_versions();
    const std::string wanted = version.empty() ? std::string(versions.front()) : version;
    if (std::ranges::find(versions, wanted) == versions.end()) {
        return std::nullopt;
    }
    Profile profile{.name = "measured", .version = wanted, .chips = {}, .band = {}};
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        if (const auto efficiency = topology::measured_efficiency(chip.name, wanted)) {
            profile.chips[chip.name] = *efficiency;
        }
    }
    for (const VersionBand& band : kBands) {
        if (band.version == wanted) {
            profile.band = {band.like,
                            band.unlike,
                            {std::begin(kPublishedKinds), std::end(kPublishedKinds)},
                            kNarrowestDense,
                            kNarrowestExperts};
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
