#include "scenarios/yaml/schema.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "scenarios/spec/quantity_names.h"
#include "scenarios/text/quote.h"
#include "scenarios/text/table.h"
#include "scenarios/yaml/schema_keys.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

/// The paths and forms of the keys of `expect`, a pair for each.
std::vector<std::pair<std::string, std::string>> texts_of_expect(
    std::span<const QuantityName> quantities) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const QuantityName& quantity : quantities) {
        texts.emplace_back(fmt::format("expect.{}", quantity.name),
                           fmt::format("{{within: {}, of: {}}}",
                                       quantity.analytic ? "1.5 %" : "10 %", quantity.example));
    }
    return texts;
}

const std::vector<KeySpec>& all_keys() {
    static const std::vector<QuantityName> quantities = expected_quantities();
    static const std::vector<std::pair<std::string, std::string>> texts =
        texts_of_expect(quantities);
    static const std::vector<KeySpec> keys = [] {
        std::vector<KeySpec> all;
        for (const KeySpec& key : written_keys()) {
            all.push_back(key);
            for (std::size_t i = 0; key.path == "expect" && i < quantities.size(); ++i) {
                all.push_back(
                    {texts[i].first, kMap, texts[i].second, "none", quantities[i].meaning});
            }
        }
        all.insert(all.end(), serving_keys().begin(), serving_keys().end());
        return all;
    }();
    return keys;
}

/// Whether a pattern of the table stands for a path: segments equal, or `*` in the pattern.
bool matches(std::string_view pattern, std::string_view path) {
    for (;;) {
        const std::string_view a = pattern.substr(0, pattern.find('.'));
        const std::string_view b = path.substr(0, path.find('.'));
        if (a != b && a != "*") {
            return false;
        }
        const bool pattern_ends = a.size() == pattern.size();
        const bool path_ends = b.size() == path.size();
        if (pattern_ends || path_ends) {
            return pattern_ends && path_ends;
        }
        pattern.remove_prefix(a.size() + 1);
        path.remove_prefix(b.size() + 1);
    }
}

std::string_view parent(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

std::string_view last(std::string_view path) {
    return path.substr(path.rfind('.') + 1);
}

unsigned mask_of(YamlNode::Kind kind) {
    switch (kind) {
        case YamlNode::Kind::null:
            return 0;
        case YamlNode::Kind::scalar:
            return kText;
        case YamlNode::Kind::sequence:
            return kList;
        case YamlNode::Kind::map:
            return kMap;
    }
    return 0;
}

void check_value(const KeySpec& key, const std::string& path, const YamlNode::Entry& entry) {
    const YamlNode& value = entry.value;
    if ((mask_of(value.kind) & key.accepts) != 0) {
        return;
    }
    throw sim::InputError(fmt::format("'{}' holds {}", path, describe(value.kind)),
                          fmt::format("write {}: {}", last(path), key.form),
                          value.kind == YamlNode::Kind::null ? entry.mark : value.mark);
}

void check_map(const YamlNode& map, const std::string& path) {
    for (const YamlNode::Entry& entry : map.entries) {
        const std::string child = path.empty() ? entry.key : path + '.' + entry.key;
        // A dot in a key must not reach into the table.
        const KeySpec* key = entry.key.find('.') == std::string::npos ? find_key(child) : nullptr;
        const std::vector<std::string> allowed = keys_of(path);
        if (key == nullptr) {
            throw sim::unknown_name(path.empty() ? "key" : path + " key", printable(entry.key),
                                    allowed)
                .at(entry.mark);
        }
        check_value(*key, child, entry);
        if (entry.value.kind == YamlNode::Kind::map) {
            check_map(entry.value, child);
        }
        for (const YamlNode& item : entry.value.items) {
            const bool text = item.kind == YamlNode::Kind::scalar && (key->accepts & kText) != 0;
            if (text) {
                continue;
            }
            if (item.kind != YamlNode::Kind::map) {
                throw sim::InputError(
                    fmt::format("an entry of '{}' is {}", child, describe(item.kind)),
                    fmt::format("write {}: {}", entry.key, key->form), item.mark);
            }
            check_map(item, child);
        }
    }
}

}  // namespace

std::span<const KeySpec> schema() {
    return all_keys();
}

const KeySpec* find_key(std::string_view path) {
    const auto found = std::ranges::find_if(
        all_keys(), [&](const KeySpec& key) { return matches(key.path, path); });
    return found == all_keys().end() ? nullptr : &*found;
}

std::vector<std::string> keys_of(std::string_view path) {
    std::vector<std::string> names;
    for (const KeySpec& key : all_keys()) {
        const std::string_view above = parent(key.path);
        const bool here = above.empty() || path.empty() ? above == path : matches(above, path);
        if (here) {
            names.emplace_back(last(key.path));
        }
    }
    return names;
}

void check_schema(const YamlNode& root) {
    if (root.kind != YamlNode::Kind::map) {
        const std::string problem =
            root.kind == YamlNode::Kind::null
                ? "the file is empty"
                : fmt::format("the file holds {}, not a map of keys", describe(root.kind));
        throw sim::InputError(
            problem, fmt::format("a scenario has the keys {}", fmt::join(keys_of(""), ", ")),
            root.mark);
    }
    check_map(root, "");
}

std::string schema_help() {
    Table table({1, 2, 3});
    table.row({"key", "written", "default", "meaning"});
    for (const KeySpec& key : all_keys()) {
        const auto depth = static_cast<std::size_t>(std::ranges::count(key.path, '.'));
        table.row({std::string(2 * depth, ' ') + std::string(last(key.path)), std::string(key.form),
                   std::string(key.fallback), std::string(key.meaning)});
    }
    return table.text(2);
}

}  // namespace podsim::scenarios
