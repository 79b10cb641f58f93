#include "scenarios/src/scenario/shown_scenario.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

#include "scenarios/src/scenario/scenario_writer.h"
#include "scenarios/src/scenario/schema.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Fills in the texts in force. A choice without a name for its default takes the schema's.
void fill_in(ReadingLog& log) {
    for (std::size_t i = 0; i < log.all().size(); ++i) {
        Asked& asked = log.at(log.all()[i].place, log.all()[i].path);
        const KeySpec* const key = find_key(asked.path);
        if (!asked.said && asked.value.empty() && key != nullptr &&
            std::ranges::find(asked.choices, key->fallback) != asked.choices.end()) {
            asked.value = std::string(key->fallback);
        }
    }
}

YamlNode tree_with(const ScenarioSource& source, std::span<const std::string> settings) {
    YamlNode tree = read_scenario(source);
    for (const std::string& setting : settings) {
        apply_setting(tree, setting);
    }
    return tree;
}

class Showing {
public:
    Showing(YamlNode tree, const std::string& path)
        : folder_(std::filesystem::path(path).parent_path()),
          name_(std::filesystem::path(path).filename().string()),
          tree_(std::move(tree)) {
        shown_.scenario = load_scenario(tree_, path, Requests::any, log_);
        fill_in(log_);
    }

    ShownScenario show() {
        std::set<std::string> written = candidates();
        while (!try_all(written)) {
        }
        ScenarioWriter writer(tree_, log_, written);
        shown_.text = text_of_lines(writer.lines());
        shown_.keys = writer.keys();
        return std::move(shown_);
    }

private:
    /// Returns the defaults that have a text. A default written as `none` has none: to state it
    /// would change its meaning.
    std::set<std::string> candidates() const {
        std::set<std::string> places;
        for (const Asked& asked : log_.all()) {
            const KeySpec* const key = find_key(asked.path);
            if (!asked.said && !asked.of_base && !asked.value.empty() && key != nullptr &&
                key->fallback != "none" && !asked.path.starts_with("expect.")) {
                places.insert(asked.place);
            }
        }
        return places;
    }

    /// True if the text with these is the same scenario; removes the defaults that may not be
    /// written.
    bool try_all(std::set<std::string>& written) const {
        const std::vector<WrittenLine> lines = ScenarioWriter(tree_, log_, written).lines();
        std::set<std::string> bad;
        ReadingLog again;
        try {
            const std::string text = text_of_lines(lines);
            const std::string path = (folder_ / name_).string();
            static_cast<void>(load_scenario(parse_yaml(text, path), path, Requests::any, again));
            fill_in(again);
            bad = changed(again, written);
        } catch (const sim::InputError& error) {
            bad = refused(error, lines, written);
        }
        if (bad.empty()) {
            return true;
        }
        for (const std::string& place : bad) {
            written.erase(place);
        }
        return false;
    }

    /// Returns the written defaults at the lines of the errors, and below them. For a fault
    /// elsewhere it returns all of them, one after the other.
    static std::set<std::string> refused(const sim::InputError& error,
                                         const std::vector<WrittenLine>& lines,
                                         const std::set<std::string>& written) {
        std::set<std::string> bad;
        for (const sim::InputError& each : sim::errors_in(error)) {
            const auto line = static_cast<std::size_t>(std::max(each.mark().line, 0));
            if (line == 0 || line > lines.size()) {
                continue;
            }
            const std::string& place = lines[line - 1].place;
            for (const std::string& one : written) {
                if (one == place || one.starts_with(place + '.')) {
                    bad.insert(one);
                }
            }
        }
        if (bad.empty()) {
            if (written.empty()) {
                throw std::logic_error("the scenario as it was said: " + std::string(error.what()));
            }
            bad.insert(*written.rbegin());
        }
        return bad;
    }

    /// Returns the defaults that were written at a changed value, or in its section.
    std::set<std::string> changed(const ReadingLog& again,
                                  const std::set<std::string>& written) const {
        std::set<std::string> bad;
        for (const Asked& asked : log_.all()) {
            const Asked* const now = again.find(asked.place);
            if (!asked.file.empty() || (now != nullptr && now->value == asked.value)) {
                continue;
            }
            const std::string section = asked.place.substr(0, asked.place.find('.'));
            for (const std::string& one : written) {
                if (written.contains(asked.place) ? one == asked.place : one.starts_with(section)) {
                    bad.insert(one);
                }
            }
        }
        return bad;
    }

    const std::filesystem::path folder_;
    const std::string name_;
    YamlNode tree_;
    ReadingLog log_;
    ShownScenario shown_;
};

}  // namespace

std::string_view to_string(Origin origin) {
    switch (origin) {
        case Origin::file:
            return "file";
        case Origin::option:
            return "option";
        case Origin::fallback:
            return "default";
        case Origin::catalogue:
            return "catalogue";
        case Origin::rule:
            return "rule";
    }
    return "";
}

ShownScenario show_scenario(const ScenarioSource& source, std::span<const std::string> settings) {
    return show_scenario(tree_with(source, settings), source.file);
}

ShownScenario show_scenario(YamlNode tree, const std::string& path) {
    return Showing(std::move(tree), path).show();
}

std::vector<ShownKey> settings_in_force(const ScenarioSource& source,
                                        std::span<const std::string> settings) {
    const YamlNode tree = tree_with(source, settings);
    ReadingLog log;
    static_cast<void>(load_scenario(tree, source.file, Requests::any, log));
    fill_in(log);
    const std::set<std::string> none;
    ScenarioWriter writer(tree, log, none);
    static_cast<void>(writer.lines());
    return writer.keys();
}

Json settings_json(std::span<const ShownKey> keys) {
    Json json = {{"said", Json::object()}, {"defaults", Json::object()}};
    for (const ShownKey& key : keys) {
        const bool said = key.origin == Origin::file || key.origin == Origin::option;
        json[said ? "said" : "defaults"][key.place] =
            key.comes_to.empty() ? key.value : key.comes_to;
    }
    return json;
}

Json shown_json(const ShownScenario& shown) {
    Json keys = Json::array();
    for (const ShownKey& key : shown.keys) {
        Json one = {{"key", key.place},
                    {"value", key.value},
                    {"origin", to_string(key.origin)},
                    {"from", key.from},
                    {"written", key.written}};
        if (!key.comes_to.empty()) {
            one["comes_to"] = key.comes_to;
        }
        keys.push_back(std::move(one));
    }
    return {{"schema", kSchemaName},           {"kind", "show"},
            {"scenario", shown.scenario.name}, {"file", shown.scenario.file},
            {"keys", std::move(keys)},         {"yaml", shown.text}};
}

}  // namespace podsim::scenarios
