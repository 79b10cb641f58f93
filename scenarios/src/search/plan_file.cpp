#include "scenarios/src/search/plan_file.h"

#include <fmt/format.h>
#include <sstream>
#include <yaml-cpp/emitter.h>

#include "scenarios/src/scenario/profile_file.h"

namespace podsim::scenarios {
namespace {

void write(YAML::Emitter& out, const YamlNode& node, int depth) {
    switch (node.kind) {
        case YamlNode::Kind::null:
            out << YAML::Null;
            return;
        case YamlNode::Kind::scalar:
            out << node.text;
            return;
        case YamlNode::Kind::sequence:
            out << YAML::Flow << YAML::BeginSeq;
            for (const YamlNode& item : node.items) {
                write(out, item, depth + 1);
            }
            out << YAML::EndSeq;
            return;
        case YamlNode::Kind::map:
            // Sections are in block style, one below the other; their content is in flow style.
            if (depth > 1) {
                out << YAML::Flow;
            }
            out << YAML::BeginMap;
            for (const YamlNode::Entry& entry : node.entries) {
                out << YAML::Key << entry.key << YAML::Value;
                write(out, entry.value, depth + 1);
            }
            out << YAML::EndMap;
            return;
    }
}

/// Rewrites the text of a path relative to one folder as a path relative to another.
void move_path(YamlNode* node, const std::filesystem::path& from, const std::filesystem::path& to) {
    if (node == nullptr || node->kind != YamlNode::Kind::scalar) {
        return;
    }
    const std::filesystem::path path(node->text);
    if (path.is_relative()) {
        const auto absolute = std::filesystem::absolute(from / path).lexically_normal();
        node->text = absolute
                         .lexically_proximate(
                             std::filesystem::absolute(to.empty() ? "." : to).lexically_normal())
                         .string();
    }
}

}  // namespace

std::string yaml_text(const YamlNode& tree, const std::string& comment) {
    YAML::Emitter out;
    write(out, tree, 0);
    std::string text;
    std::istringstream lines(comment);
    for (std::string line; std::getline(lines, line);) {
        text += "# " + line + '\n';
    }
    return text + out.c_str() + '\n';
}

YamlNode moved(YamlNode tree, const std::filesystem::path& from, const std::filesystem::path& to) {
    if (YamlNode* const model = tree.find("model")) {
        move_path(model->find("hf_config"), from, to);
    }
    if (YamlNode* const hardware = tree.find("hardware")) {
        YamlNode* const profile = hardware->find("profile");
        if (profile != nullptr && names_profile_file(profile->text)) {
            move_path(profile, from, to);
        }
    }
    return tree;
}

std::string numbered(const std::string& path, std::size_t number) {
    if (number == 1) {
        return path;
    }
    const std::filesystem::path file(path);
    return (file.parent_path() /
            fmt::format("{}-{}{}", file.stem().string(), number, file.extension().string()))
        .string();
}

}  // namespace podsim::scenarios
