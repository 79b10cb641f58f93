#include "scenarios/src/scenario/scenario_writer.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/schema.h"

namespace podsim::scenarios {
namespace {

constexpr std::size_t kCommentColumn = 44;

/// Returns `file.yaml:7`, or the option.
std::string place_text(const sim::SourceMark& mark) {
    const std::string file = std::filesystem::path(mark.file).filename().string();
    return mark.file.starts_with("--set")
               ? mark.file
               : (mark.line > 0 ? fmt::format("{}:{}", file, mark.line) : file);
}

ShownKey said_key(const std::string& place, const std::string& value, const sim::SourceMark& mark) {
    return {.place = place,
            .value = value,
            .origin = mark.file.starts_with("--set") ? Origin::option : Origin::file,
            .from = place_text(mark),
            .comes_to = {},
            .written = true};
}

/// Returns the comment behind `#` for a value that the scenario does not state.
std::string origin_text(const Asked& asked, const KeySpec& key) {
    if (asked.of_base) {
        return asked.source;
    }
    if (!asked.source.empty()) {
        return "default: " + asked.source;
    }
    const bool plain = key.fallback == asked.value || key.fallback.empty() ||
                       key.fallback == "of the base" || key.fallback == "none";
    return plain ? "default" : fmt::format("default: {}", key.fallback);
}

bool is_plain(const YamlNode& list) {
    return std::ranges::all_of(
        list.items, [](const YamlNode& item) { return item.kind == YamlNode::Kind::scalar; });
}

std::string below(const std::string& place, const std::string& key) {
    return place.empty() ? key : fmt::format("{}.{}", place, key);
}

}  // namespace

std::string text_of_lines(const std::vector<WrittenLine>& lines) {
    std::string text;
    for (const WrittenLine& line : lines) {
        text += line.text;
        if (!line.comment.empty()) {
            const std::size_t width = line.text.size();
            text += std::string(width < kCommentColumn ? kCommentColumn - width : 2, ' ');
            text += "# " + line.comment;
        }
        text += '\n';
    }
    return text;
}

std::vector<WrittenLine> ScenarioWriter::lines() {
    lines_.clear();
    keys_.clear();
    write_map(&tree_, "", "", 0, false);
    return lines_;
}

void ScenarioWriter::put(int indent, bool as_comment, const std::string& text,
                         const std::string& comment, const std::string& place) {
    const std::string blanks(static_cast<std::size_t>(indent), ' ');
    lines_.push_back({blanks + (as_comment ? "# " : "") + text, comment, place});
}

bool ScenarioWriter::asked_below(const std::string& place) const {
    return std::ranges::any_of(log_.all(), [&](const Asked& asked) {
        return asked.place.starts_with(place + '.') && !asked.value.empty();
    });
}

void ScenarioWriter::write_map(const YamlNode* node, const std::string& place,
                               const std::string& path, int indent, bool as_comment) {
    std::vector<std::string> keys = keys_of(path);
    if (path == "expect") {  // in the order of the results
        keys.clear();
        for (std::size_t i = 0; node != nullptr && i < node->entries.size(); ++i) {
            keys.push_back(node->entries[i].key);
        }
    }
    for (const std::string& key : keys) {
        const auto said = [&]() -> const YamlNode::Entry* {
            if (node == nullptr) {
                return nullptr;
            }
            const auto found = std::ranges::find(node->entries, key, &YamlNode::Entry::key);
            return found == node->entries.end() ? nullptr : &*found;
        }();
        if (said != nullptr) {
            write_said(key, *said, below(place, key), below(path, key), indent);
        } else if (key != "*") {
            write_open(key, below(place, key), below(path, key), indent, as_comment);
        }
    }
}

void ScenarioWriter::write_said(const std::string& key, const YamlNode::Entry& entry,
                                const std::string& place, const std::string& path, int indent) {
    const YamlNode& value = entry.value;
    if (value.kind == YamlNode::Kind::map) {
        put(indent, false, key + (value.entries.empty() ? ": {}" : ":"), "", place);
        if (!value.entries.empty()) {
            write_map(&value, place, path, indent + 2, false);
        }
        return;
    }
    if (value.kind == YamlNode::Kind::sequence) {
        write_list(key, value, place, path, indent);
        return;
    }
    const Asked* const asked = log_.find(place);
    ShownKey shown = said_key(place, value.text, value.mark);
    if (asked != nullptr && !asked->file.empty()) {
        shown.value = std::filesystem::absolute(asked->file).lexically_normal().string();
    }
    std::string comment = shown.from;
    if (asked != nullptr && !asked->comes_to.empty()) {
        shown.comes_to = asked->comes_to;
        comment += ", comes to " + asked->comes_to;
    }
    put(indent, false, fmt::format("{}: {}", key, yaml_scalar(shown.value)), comment, place);
    keys_.push_back(std::move(shown));
    write_map(nullptr, place, path, indent + 2, true);
}

void ScenarioWriter::write_list(const std::string& key, const YamlNode& list,
                                const std::string& place, const std::string& path, int indent) {
    if (is_plain(list)) {
        std::vector<std::string> items;
        for (const YamlNode& item : list.items) {
            items.push_back(yaml_scalar(item.text));
        }
        ShownKey shown = said_key(place, fmt::format("[{}]", fmt::join(items, ", ")), list.mark);
        put(indent, false, fmt::format("{}: {}", key, shown.value), shown.from, place);
        keys_.push_back(std::move(shown));
        return;
    }
    put(indent, false, key + ":", "", place);
    for (std::size_t i = 0; i < list.items.size(); ++i) {
        const std::string item = fmt::format("{}[{}]", place, i);
        if (list.items[i].kind == YamlNode::Kind::map && !list.items[i].entries.empty()) {
            const std::size_t first = lines_.size();
            write_map(&list.items[i], item, path, indent + 4, false);
            // The first key that is not a comment is beside the dash.
            const auto live =
                std::find_if(lines_.begin() + static_cast<std::ptrdiff_t>(first), lines_.end(),
                             [](const WrittenLine& line) {
                                 return line.text[line.text.find_first_not_of(' ')] != '#';
                             });
            live->text[static_cast<std::size_t>(indent) + 2] = '-';
        } else {
            put(indent + 2, false,
                list.items[i].kind == YamlNode::Kind::map ? "- {}"
                                                          : "- " + yaml_scalar(list.items[i].text),
                place_text(list.items[i].mark), item);
        }
    }
}

void ScenarioWriter::write_open(const std::string& key, const std::string& place,
                                const std::string& path, int indent, bool as_comment) {
    const Asked* const asked = log_.find(place);
    const KeySpec* const spec = find_key(path);
    if (asked != nullptr && !asked->value.empty() && spec != nullptr) {
        const bool written = !as_comment && written_.contains(place);
        const bool comment = !written && asked->of_base;
        const std::string from = origin_text(*asked, *spec);
        if (written || comment) {
            const bool again = comment && from == last_source_;
            put(indent, comment, fmt::format("{}: {}", key, yaml_scalar(asked->value)),
                again ? "\"" : from, place);
            last_source_ = comment ? from : "";
        }
        keys_.push_back({.place = place,
                         .value = asked->value,
                         .origin = asked->of_base           ? Origin::catalogue
                                   : !asked->source.empty() ? Origin::rule
                                                            : Origin::fallback,
                         .from = from,
                         .comes_to = {},
                         .written = written});
        if (written || comment) {
            write_map(nullptr, place, path, indent + 2, true);
            return;
        }
    }
    if (asked_below(place)) {
        write_below(nullptr, key + ":", place, path, indent, as_comment);
    }
}

/// Writes a map that the scenario does not have: as a key if a key is below it, as a comment if
/// everything below it is one.
void ScenarioWriter::write_below(const YamlNode* node, const std::string& head,
                                 const std::string& place, const std::string& path, int indent,
                                 bool as_comment) {
    const bool key = !as_comment && std::ranges::any_of(written_, [&](const std::string& each) {
        return each.starts_with(place + '.');
    });
    const std::size_t first = lines_.size();
    put(indent, !key, head, "", place);
    write_map(node, place, path, indent + 2, !key);
    if (lines_.size() == first + 1) {
        lines_.pop_back();
    }
}

}  // namespace podsim::scenarios
