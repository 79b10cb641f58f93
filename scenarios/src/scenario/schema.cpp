#include "scenarios/src/scenario/schema.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>
#include <utility>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/scenario/quantity_names.h"
#include "scenarios/src/scenario/schema_keys.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

/// Returns the paths and forms of the keys of `expect`, a pair for each.
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

/// True if a pattern of the table matches a path: segments are equal, or `*` in the pattern.
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

/// Index of the table by path: each key is asked for many times in a scenario.
class KeyIndex {
public:
    KeyIndex() {
        for (const KeySpec& key : all_keys()) {
            if (key.path.find('*') == std::string_view::npos) {
                plain_.emplace(key.path, &key);
            } else {
                patterns_.push_back(&key);
            }
        }
    }

    /// Returns the first entry of the table that matches the path, or nullptr.
    [[nodiscard]] const KeySpec* find(std::string_view path) const {
        const auto plain = plain_.find(path);
        const KeySpec* const named = plain == plain_.end() ? nullptr : plain->second;
        const auto pattern = std::ranges::find_if(
            patterns_, [&](const KeySpec* key) { return matches(key->path, path); });
        if (pattern == patterns_.end()) {
            return named;
        }
        return named == nullptr || *pattern < named ? *pattern : named;
    }

private:
    std::unordered_map<std::string_view, const KeySpec*> plain_;
    std::vector<const KeySpec*> patterns_;
};

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

/// True if the value is of a kind that its key takes; adds a fault otherwise.
bool has_kind(const KeySpec& key, const std::string& path, const std::string& place,
              const YamlNode::Entry& entry, sim::InputFaults& faults) {
    const YamlNode& value = entry.value;
    if ((mask_of(value.kind) & key.accepts) != 0) {
        return true;
    }
    const bool is_auto = (key.accepts & kAuto) != 0 && value.text == "auto";
    faults.add_always(
        place,
        sim::InputError(
            is_auto ? fmt::format("'{}' is auto, which is for a search to find", path)
                    : fmt::format("'{}' holds {}", path, describe(value.kind)),
            is_auto ? fmt::format("podsim search FILE finds the best; to run one, write {}: {}",
                                  last(path), key.form)
                    : fmt::format("write {}: {}", last(path), key.form),
            value.kind == YamlNode::Kind::null ? entry.mark : value.mark));
    return false;
}

void keep_sound(YamlNode& map, const std::string& path, const std::string& place,
                sim::InputFaults& faults);

/// True if an entry of a list is text or a map, as its key takes it. Removes what offends in a map.
bool keep_item(YamlNode& item, const sim::SourceMark& list, const KeySpec& key,
               const std::string& path, const std::string& place, sim::InputFaults& faults) {
    if (item.kind == YamlNode::Kind::scalar && (key.accepts & kText) != 0) {
        return true;
    }
    if (item.kind != YamlNode::Kind::map || keys_of(path).empty()) {
        // The parser's position of an empty entry is that of the next entry.
        faults.add_always(
            place, sim::InputError(fmt::format("an entry of '{}' is {}", path, describe(item.kind)),
                                   fmt::format("write {}: {}", last(path), key.form),
                                   item.kind == YamlNode::Kind::null ? list : item.mark));
        return false;
    }
    keep_sound(item, path, place, faults);
    return true;
}

/// True if an entry of a map may stay. Removes what offends below it.
bool keep_entry(YamlNode::Entry& entry, const std::string& path, const std::string& place,
                sim::InputFaults& faults) {
    const auto below = [&](const std::string& above, std::string_view key) {
        return above.empty() ? std::string(key) : fmt::format("{}.{}", above, key);
    };
    const std::string child = below(path, entry.key);
    // A dot in a key must not reach into the table.
    const KeySpec* key = entry.key.find('.') == std::string::npos ? find_key(child) : nullptr;
    if (key == nullptr) {
        const std::vector<std::string> allowed = keys_of(path);
        const std::string meant = sim::nearest(printable(entry.key), allowed);
        faults.add_always(
            below(place, meant.empty() ? entry.key : meant),
            sim::unknown_name(path.empty() ? "key" : path + " key", printable(entry.key), allowed)
                .at(entry.mark));
        return false;
    }
    const std::string here = below(place, entry.key);
    if (!has_kind(*key, child, here, entry, faults)) {
        return false;
    }
    if (entry.value.kind == YamlNode::Kind::map) {
        keep_sound(entry.value, child, here, faults);
    }
    for (std::size_t i = 0; i < entry.value.items.size(); ++i) {
        YamlNode& item = entry.value.items[i];
        if (!keep_item(item, entry.value.mark, *key, child, fmt::format("{}[{}]", here, i),
                       faults)) {
            item.kind = YamlNode::Kind::null;  // the others keep their numbers
        }
    }
    return true;
}

void keep_sound(YamlNode& map, const std::string& path, const std::string& place,
                sim::InputFaults& faults) {
    std::erase_if(map.entries,
                  [&](YamlNode::Entry& entry) { return !keep_entry(entry, path, place, faults); });
}

}  // namespace

std::span<const KeySpec> schema() {
    return all_keys();
}

const KeySpec* find_key(std::string_view path) {
    static const KeyIndex index;
    return index.find(path);
}

std::vector<std::string> keys_of(std::string_view path) {
    struct Map {
        std::string_view path;
        std::vector<std::string> keys{};
    };
    static const std::vector<Map> maps = [] {
        std::vector<Map> all;
        for (const KeySpec& key : all_keys()) {
            const std::string_view above = parent(key.path);
            auto map = std::ranges::find(all, above, &Map::path);
            if (map == all.end()) {
                map = all.insert(map, {above});
            }
            map->keys.emplace_back(last(key.path));
        }
        return all;
    }();
    std::vector<std::string> names;
    for (const Map& map : maps) {
        if (map.path.empty() || path.empty() ? map.path == path : matches(map.path, path)) {
            names.insert(names.end(), map.keys.begin(), map.keys.end());
        }
    }
    return names;
}

YamlNode sound_part(YamlNode root, sim::InputFaults& faults) {
    if (root.kind != YamlNode::Kind::map) {
        const std::string problem =
            root.kind == YamlNode::Kind::null
                ? "the file is empty"
                : fmt::format("the file holds {}, not a map of keys", describe(root.kind));
        throw sim::InputError(
            problem, fmt::format("a scenario has the keys {}", fmt::join(keys_of(""), ", ")),
            root.mark);
    }
    keep_sound(root, "", "", faults);
    return root;
}

void check_schema(const YamlNode& root) {
    sim::InputFaults faults([&](std::string_view) { return root.mark; });
    static_cast<void>(sound_part(root, faults));
    faults.throw_all();
}

sim::SourceMark place_of(const YamlNode& root, std::string_view place) {
    const YamlNode* node = &root;
    std::size_t depth = 0;
    for (std::string_view rest = place; !rest.empty(); ++depth) {
        const std::size_t dot = std::min(rest.find('.'), rest.size());
        const YamlNode* const child = node->find(rest.substr(0, dot));
        if (child == nullptr) {
            break;
        }
        node = child;
        rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    const std::string_view section = place.substr(0, place.find('.'));
    const bool itself = section == "model" || (depth == 1 && section == "inference");
    if (depth >= 2 || itself || section == place) {
        return node->mark;
    }
    const YamlNode* const mesh = section == "mesh" ? root.find("mesh") : nullptr;
    const YamlNode* const batch = root.find("batch");
    return (mesh != nullptr ? mesh : batch != nullptr ? batch : &root)->mark;
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
