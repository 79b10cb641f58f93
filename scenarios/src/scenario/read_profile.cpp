#include "scenarios/src/scenario/read_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>
#include <vector>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/profile_file.h"

namespace podsim::scenarios {
namespace {

/// Names the source of a profile's factors that a scenario does not change.
std::string of_profile(std::string_view name) {
    return fmt::format("profile {}", name);
}

/// Returns a number within a range, both ends included.
double number_within(const std::string& text, double least, double most) {
    const double number = parse_number(text);
    if (!(number >= least && number <= most)) {
        throw sim::InputError(fmt::format("{} is out of range", in_quotes(text)),
                              fmt::format("allowed are {:g} to {:g}", least, most));
    }
    return number;
}

/// Reads `{base: v5p, mxu: 0.8}`: the factors of the base, of which others are replaced.
void read_profile_map(const Reader& profile, bool serves, Hardware& result) {
    const Reader base = profile["base"].require();
    result.efficiency = base.read(base_factors);
    const std::string name = base.present() ? base.node().text : "";
    if (serves && name != "ideal") {
        result.efficiency = topology::with_inference_overheads(result.efficiency);
    }
    std::vector<std::string> changed;
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        const Reader place = profile[factor.name];
        place.stands(result.efficiency.*(factor.value), parse_number, of_profile(name));
        if (!place.present()) {
            continue;
        }
        const double value = place.read([&](const std::string& text) {
            return number_within(text, factor.least, factor.most);
        });
        result.efficiency.*(factor.value) = value;
        changed.push_back(fmt::format("{} {}", factor.name, value));
    }
    result.profile = fmt::format("{}{}{}{}", name == "ideal" ? "" : "measured on ", name,
                                 changed.empty() ? "" : " with ", fmt::join(changed, " and "));
}

}  // namespace

void tell_factors(const Reader& profile, const Hardware& hardware) {
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        const std::string elsewhere = measured_elsewhere(hardware, factor.name);
        profile[factor.name].stands(hardware.efficiency.*(factor.value), parse_number,
                                    fmt::format("{}{}{}", of_profile(profile_label(hardware)),
                                                elsewhere.empty() ? "" : ", ", elsewhere));
    }
}

std::string base_name(const Reader& chip, const topology::ChipSpec& spec) {
    if (!chip.is_map()) {
        return spec.name;
    }
    const Reader base = chip["base"];
    return base.present() ? topology::find_chip(base.node().text).name : "";
}

void read_profile(const Reader& hardware, const std::filesystem::path& base, bool serves,
                  IdealHardware& result) {
    const Reader chip = hardware["chip"];
    const Reader place = hardware["profile"];
    if (place.is_map()) {
        read_profile_map(place, serves, result);
        return;
    }
    const std::string name = base_name(chip, result.chip);
    if (name.empty()) {
        return;  // the name of the slice was refused
    }
    const bool by_default = topology::measured_efficiency(name).has_value();
    const std::optional<Profile> profile = place.get<std::optional<Profile>>(
        [&](const std::string& text) { return named_profile(text, base); },
        by_default ? std::optional(measured_profile()) : std::nullopt);
    place.may_be("measured");
    place.may_be("ideal");
    place.works_out_as(by_default ? "measured" : "ideal",
                       "measured where the chip was, also of one that the scenario changes");
    const bool of_file = place.present() && names_profile_file(place.node().text);
    if (of_file) {
        place.names_file((base / place.node().text).string());
    }
    if (!profile.has_value() || !place.sound()) {
        return;
    }
    const auto measured = profile->chips.find(name);
    if (measured == profile->chips.end()) {
        throw place.error(
            fmt::format("nothing was measured on {}", name),
            fmt::format("write profile: ideal, or take the factors of a chip that was measured, "
                        "such as profile: {{base: {}}}",
                        topology::measured_efficiency(name).has_value() ? name : "v5p"));
    }
    result.profile = profile->name;
    result.profile_version = profile->version;
    result.efficiency = serves && !of_file ? topology::with_inference_overheads(measured->second)
                                           : measured->second;
    if (changed_keys(result).empty()) {
        result.error_band = profile->band;  // of steps on the catalogue's chip
    }
}

void read_core_clock(const Reader& hardware, IdealHardware& result) {
    const Reader clock = hardware["core_clock"];
    result.core_clock =
        clock.get<double>([](const std::string& text) { return number_within(text, 0.5, 1.5); }, 1);
    clock.check({"hardware.profile"}, [&] {
        if (result.profile == "ideal" && result.core_clock > 1) {
            throw clock.error("profile ideal runs at the peak rates, which no clock exceeds",
                              "write 1 or less, or a profile that was measured");
        }
    });
}

}  // namespace podsim::scenarios
