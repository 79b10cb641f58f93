// Typed access to a checked YAML tree, with errors that name the key and stand at its value.
//
// A Reader is a place in the tree: a node, or the knowledge that the file says nothing there. All
// keys asked for must stand in the schema (schema.h). What is wrong at a place goes to the InputFaults of the tree: where those
// gather, reading goes on with the fallback, or with an empty value.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "scenarios/yaml/yaml_tree.h"
#include "sim/base/input_faults.h"

namespace podsim::scenarios {

class Reader {
public:
    /// The top of a tree. Both must outlive the Reader.
    Reader(const YamlNode& root, sim::InputFaults& faults)
        : node_(&root), map_mark_(root.mark), faults_(&faults) {}

    /// The place under a key of this map (one without a node when the map lacks the key).
    [[nodiscard]] Reader operator[](std::string_view key) const;

    [[nodiscard]] bool present() const { return node_ != nullptr; }
    /// Whether the file says something here, be it understood or not.
    [[nodiscard]] bool said() const { return present() || !sound(); }
    [[nodiscard]] bool is_map() const { return present() && node_->kind == YamlNode::Kind::map; }
    [[nodiscard]] const YamlNode& node() const { return *node_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] sim::InputFaults& faults() const { return *faults_; }
    /// Whether nothing was found wrong at this place, in it and around it.
    [[nodiscard]] bool sound() const { return faults_->sound(place_); }

    /// Where an error about this value belongs: the value, or the map that lacks it.
    [[nodiscard]] const sim::SourceMark& mark() const {
        return present() ? node_->mark : map_mark_;
    }

    /// Refuses a map that lacks the key, showing how it is written. Returns *this.
    const Reader& require() const;

    /// The value as `parse` reads its text, or the fallback without one. Errors of `parse` get the key and the place.
    template <class T, class Parse>
    [[nodiscard]] T get(Parse parse, T fallback) const {
        if (!present()) {
            return fallback;
        }
        try {
            return parse(node_->text);
        } catch (const sim::InputError& error) {
            add(located(error));
            return fallback;
        }
    }

    /// The value as `parse` reads its text; it must be there.
    template <class Parse>
    [[nodiscard]] auto read(Parse parse) const {
        using T = std::decay_t<decltype(parse(node_->text))>;
        require();
        return get<T>(parse, T{});
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
        add(unknown_choice(names));
        return fallback;
    }

    /// The entries of a list without those that the schema refused; none without a list.
    [[nodiscard]] std::vector<Reader> items() const;

    /// `true` or `false`.
    [[nodiscard]] bool flag(bool fallback) const;

    /// A whole number from `least` to `most`.
    [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most,
                                     std::int64_t fallback) const;

    /// Refuses this value.
    void refuse(std::string_view problem, std::string remedy) const {
        add(error(problem, std::move(remedy)));
    }
    /// Runs action() as a check of this place that needs the values at those others (InputFaults::check).
    template <class Action>
    void check(std::initializer_list<std::string_view> needs, Action&& action) const {
        faults_->check(place_, needs, std::forward<Action>(action));
    }

    /// Runs action(), which works out the value at this place from those at others (InputFaults::derive).
    template <class Action>
    void derive(std::initializer_list<std::string_view> needs, Action&& action) const {
        faults_->derive(place_, needs, std::forward<Action>(action));
    }

    /// An error of a callee at this place, naming the key.
    [[nodiscard]] sim::InputError located(const sim::InputError& error) const;
    /// An error about this value.
    [[nodiscard]] sim::InputError error(std::string_view problem, std::string remedy) const;

private:
    Reader(const YamlNode* node, std::string path, std::string place, sim::SourceMark map_mark,
           sim::InputFaults* faults)
        : node_(node),
          path_(std::move(path)),
          place_(std::move(place)),
          map_mark_(std::move(map_mark)),
          faults_(faults) {}
    [[nodiscard]] sim::InputError unknown_choice(std::span<const std::string> names) const;
    void add(const sim::InputError& error) const { faults_->add(place_, error); }

    const YamlNode* node_ = nullptr;
    std::string path_;   ///< as in the schema and in messages
    std::string place_;  ///< the path with the entry of each list, `perturb[0].kind`
    sim::SourceMark map_mark_;
    sim::InputFaults* faults_ = nullptr;
};

}  // namespace podsim::scenarios
