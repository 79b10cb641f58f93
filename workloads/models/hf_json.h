// One Hugging Face `config.json`: typed access to its keys, errors with line and column, and a
// record of the requested keys.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/base/error.h"

namespace podsim::workloads {

/// Returns the first characters of a text of the file, so that a message stays one readable line.
std::string clip(std::string_view text);

/// Typed access to the keys of one config; every refusal carries the file and the key. A missing
/// key and null (which the format uses for defaults) are the same.
class HfConfig {
public:
    /// Reads the file; throws sim::InputError unless it holds one JSON object of a sensible size.
    /// None of the `known` keys is a misspelling of another.
    HfConfig(const std::string& path, std::span<const std::string_view> known);

    /// Enters the object under `key`, if the file has one there that is not empty: keys are then
    /// those of the object.
    bool enter(const char* key);
    /// True if an object was entered.
    [[nodiscard]] bool nested() const { return nested_; }

    /// Returns the position of a key (the last of several, which counts); without the key, the
    /// start of the file.
    [[nodiscard]] sim::SourceMark mark(std::string_view key) const;

    /// Throws an error at the position of a key.
    [[noreturn]] void refuse(std::string_view key, std::string problem,
                             std::string remedy = {}) const;

    /// Throws an error about a key that the file lacks; suggests a key that may be a misspelling of
    /// it.
    [[noreturn]] void refuse_missing(std::string_view key, const std::string& remedy) const;

    /// Returns the value of a key; nothing if it is missing or null.
    [[nodiscard]] const nlohmann::json* find(const char* key);

    /// Returns the value and position of the first of these keys, in the entered object or around
    /// it.
    [[nodiscard]] std::pair<const nlohmann::json*, sim::SourceMark> find_anywhere(
        std::initializer_list<const char*> keys);

    /// Reads a whole number from `least` to `limit`.
    [[nodiscard]] std::optional<std::int64_t> whole(const char* key, std::int64_t limit,
                                                    std::int64_t least = 1);
    [[nodiscard]] std::int64_t required(const char* key, std::int64_t limit,
                                        std::int64_t least = 1);
    [[nodiscard]] bool flag(const char* key, bool fallback = false);
    /// Reads a flag of the object around the one that was entered.
    [[nodiscard]] bool flag_of_wrapper(const char* key, bool fallback) const;

    /// True if the file has the key, even as null.
    [[nodiscard]] bool has(std::string_view key) const { return root_.contains(std::string(key)); }
    /// Sets the value of a number that the file lacks.
    void assume(const char* key, std::int64_t value) { assumed_[key] = value; }
    /// Does the same with the default of the family's class, and adds a note.
    void assume_default(const char* key, std::int64_t value);
    /// Adds a note to the user about the reading of the config.
    void note(std::string text) { notes_.push_back(std::move(text)); }
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

    /// Returns the keys in the order of the file, each once.
    [[nodiscard]] std::vector<std::string> keys() const;
    [[nodiscard]] bool asked_for(const std::string& key) const { return asked_.contains(key); }
    /// Returns requested keys that are missing.
    [[nodiscard]] std::vector<std::string> missing() const;
    /// Returns the value of a key as text, clipped.
    [[nodiscard]] std::string text_of(const std::string& key) const;

private:
    /// A key of the object that is read, decoded, and the offset of its first quote.
    struct KeyPlace {
        std::string key;
        std::size_t offset = 0;
    };
    static std::vector<KeyPlace> keys_of(const std::string& text, std::size_t begin);
    void note_repeated();

    std::string path_;
    std::string text_;
    std::span<const std::string_view> known_;
    nlohmann::json root_;
    std::vector<KeyPlace> keys_;
    nlohmann::json wrapper_;
    bool nested_ = false;
    std::set<std::string> asked_;
    std::map<std::string, std::int64_t> assumed_;
    std::vector<std::string> notes_;
};

}  // namespace podsim::workloads
