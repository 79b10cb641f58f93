// One Hugging Face `config.json`: typed access to its keys, with errors that stand at line and column, and a record of which
// keys were asked for.
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

/// The first characters of a text of the file, so that a message stays one readable line.
std::string clip(std::string_view text);

/// Typed access to the keys of one config; every refusal carries the file and the key. Missing keys and
/// null (which the format uses for defaults) are the same.
class HfConfig {
public:
    /// Reads the file; throws sim::InputError unless it holds one JSON object of a sensible size. None of
    /// the `known` keys is a slip of another.
    HfConfig(const std::string& path, std::span<const std::string_view> known);

    /// From here on keys are those of the object under `key`, if the file has one there that is not empty.
    bool enter(const char* key);
    /// Whether an object was entered.
    [[nodiscard]] bool nested() const { return nested_; }

    /// Where a key stands (the last of several, which counts); the start of the file without it.
    [[nodiscard]] sim::SourceMark mark(std::string_view key) const;

    /// An error that stands at a key.
    [[noreturn]] void refuse(std::string_view key, std::string problem,
                             std::string remedy = {}) const;

    /// An error about a key that the file lacks; asks about a key that may be a slip of it.
    [[noreturn]] void refuse_missing(std::string_view key, const std::string& remedy) const;

    /// The value of a key; nothing when it is missing or null.
    [[nodiscard]] const nlohmann::json* find(const char* key);

    /// The value of the first of these keys, here or around the object that was entered, and where it stands.
    [[nodiscard]] std::pair<const nlohmann::json*, sim::SourceMark> find_anywhere(
        std::initializer_list<const char*> keys);

    /// A whole number from `least` to `limit`.
    [[nodiscard]] std::optional<std::int64_t> whole(const char* key, std::int64_t limit,
                                                    std::int64_t least = 1);
    [[nodiscard]] std::int64_t required(const char* key, std::int64_t limit,
                                        std::int64_t least = 1);
    [[nodiscard]] bool flag(const char* key, bool fallback = false);
    /// A flag of the object around the one that was entered.
    [[nodiscard]] bool flag_of_wrapper(const char* key, bool fallback) const;

    /// Whether the file has the key, be it null.
    [[nodiscard]] bool has(std::string_view key) const { return root_.contains(std::string(key)); }
    /// A number that the file lacks is this.
    void assume(const char* key, std::int64_t value) { assumed_[key] = value; }
    /// The same of what the family's class takes, which is noted.
    void assume_default(const char* key, std::int64_t value);
    /// What a user should know of how the config is understood.
    void note(std::string text) { notes_.push_back(std::move(text)); }
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

    /// The keys in the order of the file, each once.
    [[nodiscard]] std::vector<std::string> keys() const;
    [[nodiscard]] bool asked_for(const std::string& key) const { return asked_.contains(key); }
    /// Keys that were asked for and are missing.
    [[nodiscard]] std::vector<std::string> missing() const;
    /// The value of a key as text, clipped.
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
