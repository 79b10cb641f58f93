// Typed access to a checked YAML tree, with errors that name the key and point at its value.
//
// A Reader is a position in the tree: a node, or the fact that the file has nothing there. All keys
// that are asked for must be in the schema (schema.h). Errors at a position go to the InputFaults
// of the tree. If these gather, reading continues with the fallback, or with an empty value.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "scenarios/src/base/exact_text.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/scenario/reading_log.h"
#include "scenarios/src/scenario/yaml_tree.h"
#include "sim/base/input_faults.h"

namespace podsim::scenarios {

class Reader {
public:
    /// Reads the top of a tree. All arguments must outlive the Reader. A log is notified of every
    /// key that is read.
    Reader(const YamlNode& root, sim::InputFaults& faults, ReadingLog* log = nullptr)
        : node_(&root), map_mark_(root.mark), faults_(&faults), log_(log) {}

    /// Returns the position under a key of this map, without a node if the map lacks the key.
    [[nodiscard]] Reader operator[](std::string_view key) const;

    [[nodiscard]] bool present() const { return node_ != nullptr; }
    /// True if the file has a value here, whether or not it is understood.
    [[nodiscard]] bool said() const { return present() || !sound(); }
    [[nodiscard]] bool is_map() const { return present() && node_->kind == YamlNode::Kind::map; }
    [[nodiscard]] const YamlNode& node() const { return *node_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] sim::InputFaults& faults() const { return *faults_; }
    /// True if nothing was found wrong at this position, in it and around it.
    [[nodiscard]] bool sound() const { return faults_->sound(place_); }

    /// Returns the position of errors about this value: the value, or the map that lacks it.
    [[nodiscard]] const sim::SourceMark& mark() const {
        return present() ? node_->mark : map_mark_;
    }

    /// Refuses a map that lacks the key, with the form in which it is written. Returns *this.
    const Reader& require() const;

    /// Returns the value as `parse` reads its text, or the fallback without one. Errors of `parse`
    /// get the key and the position.
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

    /// Returns the value as `parse` reads its text; it must be present.
    template <class Parse>
    [[nodiscard]] auto read(Parse parse) const {
        using T = std::decay_t<decltype(parse(node_->text))>;
        require();
        return get<T>(parse, T{});
    }

    /// Returns the value of one of several names.
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

    /// Reports to the log that the value here, which the scenario leaves out, is from `source`,
    /// such as a catalogue's entry.
    template <class T, class Parse>
    void stands(const T& value, Parse parse, std::string_view source) const {
        if (log_ != nullptr) {
            note(kind_of_text<T>(parse), present() ? "" : exact_text(value, parse));
            note_source(source, true);
        }
    }
    /// Reports the same for one of several names.
    template <class T>
    void stands_as(std::span<const std::pair<std::string_view, T>> choices, const T& value,
                   std::string_view source) const {
        if (log_ != nullptr) {
            note_choices(names_of(choices), name_of(choices, value));
            note_source(source, true);
        }
    }
    /// Report the same: of the fallback of the last reading here, of everything below this
    /// position, and of a value computed by a rule.
    void falls_back_on(std::string_view source) const;
    void below_falls_back_on(std::string_view source) const;
    void works_out_as(const std::string& value, std::string_view rule) const;
    /// Reports the value that a stated one is worked out as.
    void comes_to(const std::string& text) const;
    /// Adds a word that the value may also be.
    void may_be(std::string_view word) const;
    /// Reports to the log that the value names this file.
    void names_file(const std::string& path) const;

    /// Returns the entries of a list without those that the schema refused; a text is a list of
    /// one.
    [[nodiscard]] std::vector<Reader> items() const;

    /// Reads `true` or `false`.
    [[nodiscard]] bool flag(bool fallback) const;

    /// Reads a whole number from `least` to `most`.
    [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most,
                                     std::int64_t fallback) const;

    /// Reads the same if the machine decides the limit.
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
    /// Runs action() as a check of this position that needs the values at those others
    /// (InputFaults::check).
    template <class Action>
    void check(std::initializer_list<std::string_view> needs, Action&& action) const {
        faults_->check(place_, needs, std::forward<Action>(action));
    }

    /// Runs action(), which computes the value at this position from those at others
    /// (InputFaults::derive).
    template <class Action>
    void derive(std::initializer_list<std::string_view> needs, Action&& action) const {
        faults_->derive(place_, needs, std::forward<Action>(action));
    }

    /// Returns a callee's error at this position, with the key.
    [[nodiscard]] sim::InputError located(const sim::InputError& error) const;
    /// Returns an error about this value.
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
    /// Returns the first name of a value; none if values cannot be compared.
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
    /// Reports this position to the log; `fallback` is in force if the scenario has no value.
    Asked& note(ValueKind kind, const std::string& fallback) const;
    void note_choices(std::vector<std::string> names, const std::string& fallback) const;
    void note_source(std::string_view source, bool of_base) const;
    [[nodiscard]] sim::InputError unknown_choice(std::span<const std::string> names) const;
    void add(const sim::InputError& error) const { faults_->add(place_, error); }

    const YamlNode* node_ = nullptr;
    std::string path_;   ///< as in the schema and in messages
    std::string place_;  ///< the path with each list's entry, `perturb[0].kind`
    sim::SourceMark map_mark_;
    sim::InputFaults* faults_ = nullptr;
    ReadingLog* log_ = nullptr;
};

}  // namespace podsim::scenarios
