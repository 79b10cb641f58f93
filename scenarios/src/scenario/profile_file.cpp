#include "scenarios/src/scenario/profile_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string_view>
#include <vector>

#include "scenarios/src/base/file_error.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/yaml_tree.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

using NodeKind = YamlNode::Kind;

constexpr double kWidestBand = 10;  // of the measured time
constexpr double kWidestModel = 1e6;

/// A key of the file: the form in which it is written, and its content.
struct Key {
    std::string_view name;
    NodeKind kind;
    std::string_view form;
    bool required;
};
constexpr Key kTopKeys[] = {
    {"name", NodeKind::scalar, "name: ours", true},
    {"version", NodeKind::scalar, "version: 2026-11-22", true},
    {"chips", NodeKind::map, "chips: {v5e: {mxu: 0.79}}", true},
    {"band", NodeKind::map, "band: {like: 0.06, unlike: 0.12, measured: [v5e dense bf16]}", false}};
constexpr Key kBandKeys[] = {{"like", NodeKind::scalar, "like: 0.06", true},
                             {"unlike", NodeKind::scalar, "unlike: 0.12", true},
                             {"measured", NodeKind::sequence, "measured: [v5e dense bf16]", true},
                             {"dense_from", NodeKind::scalar, "dense_from: 4096", false},
                             {"experts_from", NodeKind::scalar, "experts_from: 2048", false}};

/// Checks that a map has only those keys, each in its form, and all required ones.
void check_keys(const YamlNode& map, std::span<const Key> keys, const std::string& what) {
    for (const YamlNode::Entry& entry : map.entries) {
        std::vector<std::string_view> names;
        const Key* found = nullptr;
        for (const Key& key : keys) {
            names.push_back(key.name);
            found = key.name == entry.key ? &key : found;
        }
        if (found == nullptr) {
            throw sim::unknown_name(what + " key", printable(entry.key), names).at(entry.mark);
        }
        if (entry.value.kind != found->kind) {
            throw sim::InputError(
                fmt::format("'{}' holds {}", entry.key, describe(entry.value.kind)),
                fmt::format("write {}", found->form), entry.mark);
        }
    }
    for (const Key& key : keys) {
        if (key.required && map.find(key.name) == nullptr) {
            throw sim::InputError(fmt::format("the {} lacks '{}'", what, key.name),
                                  fmt::format("write {}", key.form), map.mark);
        }
    }
}

double number_of(const YamlNode::Entry& entry, double least, double most) {
    try {
        if (entry.value.kind != NodeKind::scalar) {
            throw sim::InputError(
                fmt::format("'{}' holds {}", entry.key, describe(entry.value.kind)),
                "write a number");
        }
        const double number = parse_number(entry.value.text);
        if (!(number >= least && number <= most)) {
            throw sim::InputError(
                fmt::format("{} {} is out of range", entry.key, in_quotes(entry.value.text)),
                fmt::format("allowed are {:g} to {:g}", least, most));
        }
        return number;
    } catch (const sim::InputError& error) {
        throw error.at(entry.value.mark);
    }
}

const YamlNode::Entry& entry_of(const YamlNode& map, std::string_view key) {
    return *std::ranges::find(map.entries, key, &YamlNode::Entry::key);
}

topology::Efficiency read_factors(const YamlNode::Entry& chip) {
    if (chip.value.kind != NodeKind::map) {
        throw sim::InputError(fmt::format("'{}' holds {}", chip.key, describe(chip.value.kind)),
                              fmt::format("write {}: {{mxu: 0.79}}", chip.key), chip.mark);
    }
    topology::Efficiency efficiency;
    for (const YamlNode::Entry& entry : chip.value.entries) {
        try {
            const topology::EfficiencyFactor& factor = find_factor(printable(entry.key));
            efficiency.*(factor.value) = number_of(entry, factor.least, factor.most);
        } catch (const sim::InputError& error) {
            throw error.at(entry.mark);
        }
    }
    return efficiency;
}

ErrorBand read_band(const YamlNode& band) {
    check_keys(band, kBandKeys, "band");
    ErrorBand read;
    read.like = number_of(entry_of(band, "like"), 0, kWidestBand);
    read.unlike = number_of(entry_of(band, "unlike"), read.like, kWidestBand);
    for (const YamlNode& item : band.find("measured")->items) {
        const std::optional<StepKind> kind =
            item.kind == NodeKind::scalar ? parse_step_kind(item.text) : std::nullopt;
        if (!kind.has_value()) {
            throw sim::InputError(fmt::format("{} is no kind of step", in_quotes(item.text)),
                                  "write a chip, dense or experts, and bf16 or quantised, such as "
                                  "v5e dense bf16",
                                  item.mark);
        }
        read.measured.push_back(*kind);
    }
    const auto width = [&](std::string_view key) {
        return band.find(key) == nullptr
                   ? std::int64_t{0}
                   : std::llround(number_of(entry_of(band, key), 0, kWidestModel));
    };
    read.dense_from = width("dense_from");
    read.experts_from = width("experts_from");
    return read;
}

}  // namespace

std::string profile_text(const Profile& profile) {
    std::string text = fmt::format("name: {}\nversion: {}\nchips:\n", yaml_scalar(profile.name),
                                   yaml_scalar(profile.version));
    for (const auto& [chip, efficiency] : profile.chips) {
        std::vector<std::string> factors;
        for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
            factors.push_back(fmt::format("{}: {}", factor.name, efficiency.*(factor.value)));
        }
        text += fmt::format("  {}: {{{}}}\n", chip, fmt::join(factors, ", "));
    }
    if (profile.band.like > 0) {
        std::vector<std::string> kinds;
        for (const StepKind& kind : profile.band.measured) {
            kinds.push_back(to_string(kind));
        }
        text += fmt::format(
            "band: {{like: {}, unlike: {}, measured: [{}], dense_from: {}, experts_from: {}}}\n",
            profile.band.like, profile.band.unlike, fmt::join(kinds, ", "), profile.band.dense_from,
            profile.band.experts_from);
    }
    return text;
}

Profile read_profile_file(const std::string& path) {
    const YamlNode root = parse_yaml(read_text_file(path), path);
    if (root.kind != NodeKind::map) {
        throw sim::InputError(
            fmt::format("a profile is a map, this file holds {}", describe(root.kind)),
            "make one with podsim calibrate --write", {path, 0, 0});
    }
    check_keys(root, kTopKeys, "profile");
    Profile profile{.name = root.find("name")->text,
                    .version = root.find("version")->text,
                    .chips = {},
                    .band = {}};
    for (const YamlNode::Entry& chip : root.find("chips")->entries) {
        try {
            static_cast<void>(topology::find_chip(printable(chip.key)));
        } catch (const sim::InputError& error) {
            throw error.at(chip.mark);
        }
        profile.chips[chip.key] = read_factors(chip);
    }
    if (const YamlNode* const band = root.find("band")) {
        profile.band = read_band(*band);
    }
    return profile;
}

bool names_profile_file(const std::string& text) {
    return text.ends_with(".yaml") || text.ends_with(".yml");
}

std::optional<Profile> named_profile(const std::string& text, const std::filesystem::path& folder) {
    if (text == "ideal") {
        return std::nullopt;
    }
    if (names_profile_file(text)) {
        check_readable(folder / text,
                       "profile names a file of podsim calibrate --write, from this scenario's "
                       "folder; or write measured or ideal");
        return read_profile_file((folder / text).string());
    }
    const std::string versioned = fmt::format("measured@{}", topology::kMeasuredVersion);
    if (text == "measured" || text == versioned) {
        return measured_profile();
    }
    if (text.starts_with("measured@")) {
        throw sim::InputError(
            fmt::format("this podsim has no profile {}", in_quotes(text)),
            fmt::format("write measured, which is {}, or a file that podsim calibrate --write has "
                        "made",
                        versioned));
    }
    const std::vector<std::string> allowed{"ideal", "measured", "a file that ends in .yaml"};
    throw sim::unknown_name("profile", printable(text), allowed);
}

}  // namespace podsim::scenarios
