#include "scenarios/src/import/maxtext_settings.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <utility>
#include <vector>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/import/maxtext_defaults.h"
#include "scenarios/src/import/maxtext_inference.h"
#include "scenarios/src/import/maxtext_keys.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

std::string text_of(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::sequence) {
        return node.text;
    }
    std::vector<std::string> items;
    for (const YamlNode& item : node.items) {
        items.push_back(item.text);
    }
    return fmt::format("[{}]", fmt::join(items, ","));
}

constexpr const char* kBaseConfig = "base_config";
constexpr std::size_t kMostBases = 8;

/// Returns the path beside the file or in a folder above it, as with MaxText's own files.
std::string base_path(const YamlNode& name, const std::string& file) {
    const std::filesystem::path base(name.text);
    std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::error_code unknown;
    for (std::size_t up = 0; up < kMostBases; ++up) {
        const std::filesystem::path path = folder / base;
        if (std::filesystem::exists(path, unknown)) {
            return path.string();
        }
        folder = folder / "..";
    }
    throw sim::InputError(
        fmt::format("base_config: there is no {} beside the file or in a folder above it",
                    in_quotes(name.text)),
        "put MaxText's file there: all that this one does not say stands in it", name.mark);
}

bool is_same(const YamlNode& one, const YamlNode& other) {
    const auto same_entry = [](const YamlNode::Entry& a, const YamlNode::Entry& b) {
        return a.key == b.key && is_same(a.value, b.value);
    };
    return says_the_same(one.text, other.text) &&
           std::ranges::equal(one.items, other.items, is_same) &&
           std::ranges::equal(one.entries, other.entries, same_entry);
}

YamlNode tree_upon_bases(const std::string& text, const std::string& file, MaxTextTree& read) {
    constexpr std::size_t kMostKeysOfMaxText = 4096;
    YamlNode tree = parse_yaml(text, file, kMostKeysOfMaxText);
    const YamlNode* const name = tree.find(kBaseConfig);
    if (name == nullptr || name->text.empty()) {
        return tree;
    }
    if (read.bases.size() == kMostBases) {
        throw sim::InputError("base_config: files that name each other",
                              "let one of them have no base_config", name->mark);
    }
    const std::string path = base_path(*name, file);
    read.bases.push_back(path);
    YamlNode merged = tree_upon_bases(read_text_file(path), path, read);
    if (merged.kind == YamlNode::Kind::map) {
        for (const YamlNode::Entry& entry : tree.entries) {
            const YamlNode* const under = merged.find(entry.key);
            if (under == nullptr || !is_same(*under, entry.value)) {
                read.changed.insert(entry.key);
            }
        }
        std::erase_if(merged.entries, [&](const YamlNode::Entry& entry) {
            return tree.find(entry.key) != nullptr;
        });
        std::ranges::move(tree.entries, std::back_inserter(merged.entries));
    }
    return merged;
}

}  // namespace

MaxTextTree maxtext_tree(const std::string& text, const std::string& file) {
    MaxTextTree tree;
    tree.keys = tree_upon_bases(text, file, tree);
    return tree;
}

namespace {

/// Refuses files that people have beside MaxText's.
void refuse_other_files(const YamlNode& base) {
    const auto has = [&](std::string_view key) { return base.find(key) != nullptr; };
    if (has("hardware") && has("model")) {
        throw sim::InputError("a scenario of podsim, not a file of MaxText", "podsim run takes it",
                              base.mark);
    }
    if (has("model_type") && (has("hidden_size") || has("text_config"))) {
        throw sim::InputError("a Hugging Face config, not a file of MaxText",
                              "podsim import hf takes it", base.mark);
    }
}

}  // namespace

void MaxTextSettings::read_file(const MaxTextTree& tree) {
    const YamlNode& base = tree.keys;
    if (base.kind != YamlNode::Kind::map) {
        throw sim::InputError(fmt::format("{} instead of a map of keys", describe(base.kind)),
                              "write MaxText's keys, as its base.yml has them", base.mark);
    }
    refuse_other_files(base);
    for (const YamlNode::Entry& entry : base.entries) {
        values_[entry.key] = {text_of(entry.value), entry.mark, entry.mark.file};
    }
    const bool few = tree.bases.empty() && !is_whole();
    for (auto& [key, value] : values_) {
        const auto usual = maxtext_default(key);
        value.own =
            tree.changed.contains(key) || (usual ? !says_the_same(value.text, *usual) : few);
    }
}

MaxTextSettings::MaxTextSettings(const MaxTextTree& tree, std::span<const std::string> overrides) {
    read_file(tree);
    // Errors of keys are independent of each other, so all of them are reported.
    std::vector<sim::InputError> errors;
    for (const std::string& setting : overrides) {
        try {
            override_with(setting);
        } catch (const sim::InputError& error) {
            errors.push_back(error);
        }
    }
    for (const auto& [key, value] : values_) {
        const std::string meant = meant_by(key);
        const auto right = values_.find(meant);
        if (!meant.empty() && !value.overridden && right != values_.end() &&
            right->second.file == value.file) {
            cannot(key, fmt::format("podsim does not know it; {} stands there, too", meant));
        } else if (!meant.empty()) {
            errors.emplace_back(fmt::format("MaxText has no key '{}'", printable(key)),
                                fmt::format("did you mean '{}'?", meant), value.mark);
        }
    }
    if (errors.size() == 1) {
        throw sim::InputError(errors.front());
    }
    if (!errors.empty()) {
        throw sim::InputErrors(std::move(errors));
    }
}

void MaxTextSettings::override_with(const std::string& setting) {
    const sim::SourceMark mark{printable(setting), 0, 0};
    const std::size_t sign = setting.find('=');
    if (sign == std::string::npos || sign == 0) {
        throw sim::InputError("not key=value", "write such as per_device_batch_size=4", mark);
    }
    const std::string key = setting.substr(0, sign);
    if (key == kBaseConfig) {
        throw sim::InputError(
            "base_config: MaxText reads that file for a YAML file that names it, "
            "not for its command line",
            "give podsim import maxtext a file that says base_config", mark);
    }
    const auto found = values_.find(key);
    if (found != values_.end() && found->second.overridden) {
        throw sim::InputError(fmt::format("'{}' is said twice", printable(key)), "keep one", mark);
    }
    if (found == values_.end() && !is_read(key) && !is_not_modelled(key) && !is_of_inference(key) &&
        (reason_of(key).empty() || shapes_steps(key))) {
        std::vector<std::string> names = read_keys();
        for (const auto& [name, value] : values_) {
            names.push_back(name);
        }
        const std::string near = key.size() < 100 ? sim::nearest(key, names) : "";
        throw sim::InputError(
            fmt::format("MaxText has no key '{}' in that file", printable(key)),
            near.empty() ? "check its spelling, or give the base.yml of the version that has it"
                         : fmt::format("did you mean '{}'?", near),
            mark);
    }
    std::string value = setting.substr(sign + 1);
    if (value.size() > 1 && (value.front() == '\'' || value.front() == '"') &&
        value.back() == value.front()) {
        value = value.substr(1, value.size() - 2);
    }
    if (value.empty() && is_read(key) && !may_be_empty(key)) {
        throw sim::InputError(fmt::format("'{}' without a value", printable(key)),
                              "give one, or leave it out", mark);
    }
    values_[key] = {value, mark, found == values_.end() ? "" : found->second.file, true, true};
}

void MaxTextSettings::refuse(const std::string& key, const std::string& problem,
                             const std::string& remedy) const {
    const auto found = values_.find(key);
    throw sim::InputError(fmt::format("{}: {}", key, problem), remedy,
                          found == values_.end() ? sim::SourceMark{} : found->second.mark);
}

std::string MaxTextSettings::text(const std::string& key, const std::string& fallback) {
    if (const auto put = put_.find(key); put != put_.end()) {
        return put->second;
    }
    const auto found = values_.find(key);
    if (found == values_.end()) {
        taken_[key] = fallback;
        return fallback;
    }
    read_.insert(key);
    return found->second.text.empty() ? fallback : found->second.text;
}

bool MaxTextSettings::flag(const std::string& key, bool fallback) {
    const std::string value = text(key, fallback ? "true" : "false");
    const std::string small = lower_case(value);
    if (small == "true" || small == "1") {
        return true;
    }
    if (small == "false" || small == "0") {
        return false;
    }
    refuse(key, fmt::format("{} is neither true nor false", in_quotes(value)),
           "write true or false");
}

std::int64_t MaxTextSettings::whole(const std::string& key, std::int64_t least,
                                    std::int64_t fallback) {
    std::string value = text(key, std::to_string(fallback));
    std::erase(value, '_');  // as in 32_768
    std::int64_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    constexpr std::int64_t kMost = 1 << 30;  // so that the product of two is in range, too
    if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || number < least ||
        number > kMost) {
        refuse(key, fmt::format("{} is no whole number from {}", in_quotes(value), least),
               fmt::format("write a number up to {}", kMost));
    }
    return number;
}

double MaxTextSettings::number(const std::string& key, double fallback) {
    const std::string value = text(key, fmt::format("{}", fallback));
    double number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || !(number < 1e12)) {
        refuse(key, fmt::format("{} is no number", in_quotes(value)), "write a number");
    }
    return number;
}

std::vector<MaxTextSettings::Line> MaxTextSettings::used() const {
    std::vector<Line> lines;
    for (const std::string& key : read_) {
        if (!cannot_.contains(key) && !passed_over_.contains(key)) {
            const Value& value = values_.at(key);
            lines.push_back({key, value.text, "", value.overridden, value.own});
        }
    }
    return lines;
}

std::vector<MaxTextSettings::Line> MaxTextSettings::taken() const {
    std::vector<Line> lines;
    for (const auto& [key, value] : taken_) {
        if (!value.empty()) {
            lines.push_back({key, value, ""});
        }
    }
    return lines;
}

bool MaxTextSettings::is_whole() const {
    constexpr const char* kInEveryBase[] = {"base_emb_dim",      "per_device_batch_size",
                                            "max_target_length", "remat_policy",
                                            "scan_layers",       "vocab_size"};
    return std::ranges::all_of(kInEveryBase, [&](const char* key) {
        const auto found = values_.find(key);
        return found != values_.end() && !found->second.file.empty();
    });
}

std::vector<MaxTextSettings::Line> MaxTextSettings::not_expressed() const {
    std::vector<Line> lines;
    for (const auto& [key, why] : cannot_) {
        const auto found = values_.find(key);
        const Value value = found == values_.end() ? Value{} : found->second;
        lines.push_back({key, value.text, why, value.overridden, value.own});
    }
    return lines;
}

std::vector<MaxTextSettings::Line> MaxTextSettings::ignored() const {
    std::vector<Line> lines;
    for (const auto& [key, value] : values_) {
        const auto passed = passed_over_.find(key);
        if (!cannot_.contains(key) && (!read_.contains(key) || passed != passed_over_.end())) {
            lines.push_back(
                {key, value.text,
                 passed != passed_over_.end() ? passed->second : std::string(reason_of(key)),
                 value.overridden, value.own});
        }
    }
    return lines;
}

}  // namespace podsim::scenarios
