// Typed access to a checked YAML tree, with errors that name the key and stand at its value.
//
// A Reader is a place in the tree: a node, or the knowledge that the file says nothing there. All
// keys asked for must stand in the schema (schema.h). What is wrong at a place goes to the InputFaults of the tree: where those
// gather, reading goes on with the fallback, or with an empty value.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "scenarios/text/exact_text.h"
#include "scenarios/text/quantity_text.h"
#include "scenarios/yaml/reading_log.h"
#include "scenarios/yaml/yaml_tree.h"
#include "sim/base/input_faults.h"

namespace podsim::scenarios {

class Reader {
public:
    /// The top of a tree. All must outlive the Reader; a log hears of every key that is read.
    Reader(const YamlNode& root, sim::InputFaults& faults, ReadingLog* log = nullptr)
        : node_(&root), map_mark_(root.mark), faults_(&faults), log_(log) {}

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
        if (log_ != nullptr) {
            note(kind_of_text<T>(parse), present() ? "" : exact_text(fallback, parse));
        }
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
        if (log_ != nullptr) {
            note_choices(names_of(choices), name_of(choices, fallback));
        }
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

    /// Says to the log that a value stands here which the scenario leaves to `source`, such as a catalogue's entry.
    template <class T, class Parse>
    void stands(const T& value, Parse parse, std::string_view source) const {
        if (log_ != nullptr) {
            note(kind_of_text<T>(parse), present() ? "" : exact_text(value, parse));
            note_source(source, true);
        }
    }
    /// The same of one of several names.
    template <class T>
    void stands_as(std::span<const std::pair<std::string_view, T>> choices, const T& value,
                   std::string_view source) const {
        if (log_ != nullptr) {
            note_choices(names_of(choices), name_of(choices, value));
            note_source(source, true);
        }
    }
    /// The same of what the last reading of this place fell back on; of all below this place; of what a rule works out.
    void falls_back_on(std::string_view source) const;
    void below_falls_back_on(std::string_view source) const;
    void works_out_as(const std::string& value, std::string_view rule) const;
    /// What a value that the scenario says comes to.
    void comes_to(const std::string& text) const;
    /// A word that the value may be, too.
    void may_be(std::string_view word) const;
    /// Says to the log that the value names this file.
    void names_file(const std::string& path) const;

    /// The entries of a list without those that the schema refused; a text is a list of one.
    [[nodiscard]] std::vector<Reader> items() const;

    /// `true` or `false`.
    [[nodiscard]] bool flag(bool fallback) const;

    /// A whole number from `least` to `most`.
    [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most,
                                     std::int64_t fallback) const;

    /// The same where the machine says how many there are.
    [[nodiscard]] std::int64_t whole_of_machine(std::int64_t least, std::int64_t most) const {
        const std::int64_t read = whole(least, most, least);
        if (log_ != nullptr) {
            log_->at(place_, path_).most = Asked::kOfMachine;
        }
        return read;
    }

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
           sim::InputFaults* faults, ReadingLog* log)
        : node_(node),
          path_(std::move(path)),
          place_(std::move(place)),
          map_mark_(std::move(map_mark)),
          faults_(faults),
          log_(log) {}

    template <class T>
    static std::vector<std::string> names_of(
        std::span<const std::pair<std::string_view, T>> choices) {
        std::vector<std::string> names;
        for (const auto& [name, value] : choices) {
            names.emplace_back(name);
        }
        return names;
    }
    /// The first name of a value; none of values that cannot be compared.
    template <class T>
    static std::string name_of(std::span<const std::pair<std::string_view, T>> choices,
                               const T& value) {
        if constexpr (std::equality_comparable<T>) {
            for (const auto& [name, each] : choices) {
                if (each == value) {
                    return std::string(name);
                }
            }
        }
        return {};
    }
    template <class T, class Parse>
    static ValueKind kind_of_text(Parse parse) {
        if constexpr (std::is_same_v<T, std::int64_t>) {
            return ValueKind::count;
        } else if constexpr (std::is_same_v<T, double>) {
            try {
                static_cast<void>(parse("1"));
            } catch (const sim::InputError& error) {
                return error.problem().ends_with(kNoUnit) ? ValueKind::quantity : ValueKind::number;
            }
            return ValueKind::number;
        } else {
            return HasUnit<T> ? ValueKind::quantity : ValueKind::other;
        }
    }
    /// Tells the log of this place; `fallback` stands in force where the scenario says nothing.
    Asked& note(ValueKind kind, const std::string& fallback) const;
    void note_choices(std::vector<std::string> names, const std::string& fallback) const;
    void note_source(std::string_view source, bool of_base) const;
    [[nodiscard]] sim::InputError unknown_choice(std::span<const std::string> names) const;
    void add(const sim::InputError& error) const { faults_->add(place_, error); }

    const YamlNode* node_ = nullptr;
    std::string path_;   ///< as in the schema and in messages
    std::string place_;  ///< the path with the entry of each list, `perturb[0].kind`
    sim::SourceMark map_mark_;
    sim::InputFaults* faults_ = nullptr;
    ReadingLog* log_ = nullptr;
};

}  // namespace podsim::scenarios
