// Applies `--set key.path=value` to a YAML tree.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/yaml_tree.h"

namespace podsim::scenarios {
namespace {

std::string form_of(std::string_view option) {
    return fmt::format("write {0} key.path=value, as in {0} hardware.slice=4x4x4", option);
}

void place_everywhere(YamlNode& node, const sim::SourceMark& mark) {
    node.mark = mark;
    for (YamlNode& item : node.items) {
        place_everywhere(item, mark);
    }
    for (YamlNode::Entry& entry : node.entries) {
        entry.mark = mark;
        place_everywhere(entry.value, mark);
    }
}

/// Returns the map at `node`, made from its content: nothing becomes an empty map, text `{base:
/// text}`.
YamlNode& as_map(YamlNode& node, const sim::SourceMark& mark) {
    switch (node.kind) {
        case YamlNode::Kind::map:
            break;
        case YamlNode::Kind::null:
            node.kind = YamlNode::Kind::map;
            node.mark = mark;
            break;
        case YamlNode::Kind::scalar: {
            YamlNode base = std::move(node);
            node = {};
            node.kind = YamlNode::Kind::map;
            node.mark = mark;
            const sim::SourceMark base_mark = base.mark;
            node.entries.push_back({"base", base_mark, std::move(base)});
            break;
        }
        case YamlNode::Kind::sequence:
            throw sim::InputError("the path goes through a list", "set the whole list", mark);
    }
    return node;
}

YamlNode::Entry& child(YamlNode& map, const std::string& key, const sim::SourceMark& mark) {
    const auto found = std::ranges::find(map.entries, key, &YamlNode::Entry::key);
    if (found != map.entries.end()) {
        return *found;
    }
    map.entries.push_back({key, mark, {}});
    return map.entries.back();
}

}  // namespace

void apply_setting(YamlNode& root, const std::string& setting, const std::string& option) {
    const sim::SourceMark mark{fmt::format("{} {}", option, printable(setting)), 0, 0};
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
        throw sim::InputError(fmt::format("{} has no '='", in_quotes(setting)), form_of(option),
                              {option, 0, 0});
    }
    if (setting.size() > kLargestFile) {
        throw sim::InputError("the value is longer than 1 MiB", form_of(option), mark);
    }
    YamlNode value;
    try {
        value = parse_yaml(setting.substr(equals + 1), mark.file);
    } catch (const sim::InputError& error) {
        throw sim::InputError(error.problem(), error.remedy(), mark);
    }
    set_value(root, setting.substr(0, equals), std::move(value), mark);
}

void set_value(YamlNode& root, const std::string& key_path, YamlNode value,
               const sim::SourceMark& mark) {
    place_everywhere(value, mark);
    YamlNode* node = &root;
    int depth = 0;
    for (std::size_t start = 0; start <= key_path.size();) {
        const std::size_t end = std::min(key_path.find('.', start), key_path.size());
        const std::string key = key_path.substr(start, end - start);
        if (key.empty() || ++depth > kDeepestNesting) {
            throw sim::InputError("the key path is empty in a place, or too deep",
                                  form_of(mark.file.substr(0, mark.file.find(' '))), mark);
        }
        YamlNode::Entry& entry = child(as_map(*node, mark), key, mark);
        if (end == key_path.size()) {
            entry.mark = mark;
        }
        node = &entry.value;
        start = end + 1;
    }
    *node = std::move(value);
}

}  // namespace podsim::scenarios
