#include "scenarios/src/scenario/key_help.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/scenario/probes.h"
#include "scenarios/src/scenario/schema.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

std::string_view last_word(std::string_view path) {
    return path.substr(path.rfind('.') + 1);
}

/// Returns the forms in which a value may be written.
std::string values_text(const KeySpec& key, const Asked* asked) {
    std::vector<std::string> forms;
    if (asked != nullptr) {
        if (key.path.starts_with("mesh.")) {
            forms.emplace_back("physical axes and their factors");
        }
        if (!asked->choices.empty() && asked->kind != ValueKind::flag) {
            forms.push_back(fmt::format("{}", fmt::join(asked->choices, ", ")));
        }
        switch (asked->kind) {
            case ValueKind::flag:
                forms.emplace_back("true, false");
                break;
            case ValueKind::whole:
                forms.push_back(
                    asked->most == Asked::kOfMachine
                        ? fmt::format("a whole number from {}", asked->least)
                        : fmt::format("a whole number from {} to {}", asked->least, asked->most));
                break;
            case ValueKind::count:
                forms.emplace_back("a whole number, with k, M, G, T or Ki, Mi, Gi, Ti");
                break;
            case ValueKind::number:
                forms.emplace_back("a number");
                break;
            case ValueKind::quantity:
                forms.emplace_back(key.form.ends_with('%') ? "a percentage"
                                                           : "a number and a unit");
                break;
            case ValueKind::choice:
            case ValueKind::other:
                break;
        }
    }
    if ((key.accepts & kText) != 0 && forms.empty()) {
        forms.emplace_back("text");
    }
    if ((key.accepts & kMap) != 0) {
        forms.emplace_back("a map");
    }
    if ((key.accepts & kList) != 0) {
        forms.emplace_back("a list");
    }
    if ((key.accepts & kAuto) != 0) {
        forms.emplace_back("auto, for podsim search to find");
    }
    return fmt::format("{}", fmt::join(forms, "; or "));
}

/// True if it is a key of a list's maps, which no option sets.
bool is_in_list(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) {
        return false;
    }
    const KeySpec* const above = find_key(path.substr(0, dot));
    return (above != nullptr && (above->accepts & (kList | kMap)) == kList) ||
           is_in_list(path.substr(0, dot));
}

std::string help_of(const KeySpec& key, const AskedKeys& asked) {
    const std::string path(key.path);
    const auto known = asked.keys.find(path);
    Table facts({1});
    facts.row({"values", values_text(key, known == asked.keys.end() ? nullptr : &known->second)});
    facts.row({"default", std::string(key.fallback)});
    facts.row({"example", fmt::format("{}: {}", last_word(path), key.form)});
    if ((key.accepts & kText) != 0 && path.find('*') == std::string::npos && !is_in_list(path)) {
        const bool plain = key.form.find_first_of(" {}[]") == std::string_view::npos;
        facts.row({"option", fmt::format("--set {0}{1}={2}{0}", plain ? "" : "'", path, key.form)});
    }
    std::string text = fmt::format("{}\n  {}\n\n{}", path, key.meaning, facts.text(2));
    Table below({1});
    bool any = false;
    for (const KeySpec& each : schema()) {
        if (each.path.starts_with(path + '.')) {
            below.row({std::string(each.path.substr(path.size() + 1)), std::string(each.meaning)});
            any = true;
        }
    }
    return any ? text + "\nKeys\n" + below.text(2) : text;
}

}  // namespace

bool names_key(std::string_view name) {
    return std::ranges::any_of(schema(), [&](const KeySpec& key) {
        return key.path == name || last_word(key.path) == name;
    });
}

std::string key_help(const std::string& name, const std::vector<std::string_view>& commands) {
    std::vector<const KeySpec*> found;
    std::vector<std::string_view> names = commands;
    if (const KeySpec* const key = find_key(name)) {
        found.push_back(key);
    }
    for (const KeySpec& key : schema()) {
        names.push_back(key.path);
        if (std::ranges::find(names, last_word(key.path)) == names.end()) {
            names.push_back(last_word(key.path));
        }
        if (found.empty() || found.front()->path != name) {
            if (last_word(key.path) == name) {
                found.push_back(&key);
            }
        }
    }
    if (found.empty()) {
        const std::string meant = sim::nearest(printable(name), names);
        throw sim::InputError(fmt::format("no command, key or term is called {}", in_quotes(name)),
                              meant.empty()
                                  ? "podsim --help lists the commands, podsim help keys the keys"
                                  : fmt::format("did you mean '{}'?", meant));
    }
    const AskedKeys asked = ask_probes();
    std::string text;
    for (const KeySpec* const key : found) {
        text += text.empty() ? "" : "\n";
        text += help_of(*key, asked);
    }
    return text;
}

}  // namespace podsim::scenarios
