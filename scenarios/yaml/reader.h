// Typed access to a checked YAML tree, with errors that name the key and stand at its value.
//
// A Reader is a place in the tree: a node, or the knowledge that the file says nothing there. All
// keys asked for must stand in the schema (schema.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/yaml/yaml_tree.h"

namespace podsim::scenarios {

class Reader {
public:
    /// The top of a tree, which must outlive the Reader.
    explicit Reader(const YamlNode& root) : node_(&root), map_mark_(root.mark) {}

    /// The place under a key of this map (one without a node when the map lacks the key).
    [[nodiscard]] Reader operator[](std::string_view key) const;

    [[nodiscard]] bool present() const { return node_ != nullptr; }
    [[nodiscard]] bool is_map() const { return present() && node_->kind == YamlNode::Kind::map; }
    [[nodiscard]] const YamlNode& node() const { return *node_; }
    [[nodiscard]] const std::string& path() const { return path_; }

    /// Where an error about this value belongs: the value, or the map that lacks it.
    [[nodiscard]] const sim::SourceMark& mark() const {
        return present() ? node_->mark : map_mark_;
    }

    /// Throws when the map lacks the key, showing how it is written. Returns *this.
    const Reader& require() const;

    /// The value as `parse` reads its text, or the fallback without one.
    template <class T, class Parse>
    [[nodiscard]] T get(Parse parse, T fallback) const {
        return present() ? read(parse) : std::move(fallback);
    }

    /// The value as `parse` reads its text; it must be there. Errors of `parse` get the key and the
    /// place.
    template <class Parse>
    [[nodiscard]] auto read(Parse parse) const {
        require();
        try {
            return parse(node_->text);
        } catch (const sim::InputError& error) {
            throw located(error);
        }
    }

    /// One of several names.
    template <class T>
    [[nodiscard]] T choose(std::span<const std::pair<std::string_view, T>> choices,
                           T fallback) const {
        if (!present()) {
            return fallback;
        }
        std::vector<std::string> names;
        for (const auto& [name, value] : choices) {
            if (name == node_->text) {
                return value;
            }
            names.emplace_back(name);
        }
        throw unknown_choice(names);
    }

    /// The entries of a list; none without one.
    [[nodiscard]] std::vector<Reader> items() const;

    /// `true` or `false`.
    [[nodiscard]] bool flag(bool fallback) const;

    /// A whole number from `least` to `most`.
    [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most,
                                     std::int64_t fallback) const;

    /// An error of a callee at this place, naming the key.
    [[nodiscard]] sim::InputError located(const sim::InputError& error) const;
    /// An error about this value.
    [[nodiscard]] sim::InputError error(std::string_view problem, std::string remedy) const;

private:
    Reader(const YamlNode* node, std::string path, sim::SourceMark map_mark)
        : node_(node), path_(std::move(path)), map_mark_(std::move(map_mark)) {}
    [[nodiscard]] sim::InputError unknown_choice(std::span<const std::string> names) const;

    const YamlNode* node_ = nullptr;
    std::string path_;
    sim::SourceMark map_mark_;
};

}  // namespace podsim::scenarios
