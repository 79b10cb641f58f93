// One Hugging Face `config.json`: typed access to its keys, with errors that stand at line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

    /// Where a key stands (the last of several, which counts); the start of the file without it.
    [[nodiscard]] sim::SourceMark mark(std::string_view key) const;

    /// An error that stands at a key.
    [[noreturn]] void refuse(std::string_view key, std::string problem,
                             std::string remedy = {}) const;

    /// An error about a key that the file lacks; asks about a key that may be a slip of it.
    [[noreturn]] void refuse_missing(std::string_view key, const std::string& remedy) const;

    /// The value of a key; nothing when it is missing or null.
    [[nodiscard]] const nlohmann::json* find(const char* key) const;

    /// A whole number from `least` to `limit`.
    [[nodiscard]] std::optional<std::int64_t> whole(const char* key, std::int64_t limit,
                                                    std::int64_t least = 1) const;
    [[nodiscard]] std::int64_t required(const char* key, std::int64_t limit,
                                        std::int64_t least = 1) const;
    [[nodiscard]] bool flag(const char* key, bool fallback = false) const;

private:
    /// A key of the top level, decoded, and the offset of its first quote.
    struct KeyPlace {
        std::string key;
        std::size_t offset = 0;
    };
    static std::vector<KeyPlace> top_keys(const std::string& text);

    std::string path_;
    std::string text_;
    std::span<const std::string_view> known_;
    nlohmann::json root_;
    std::vector<KeyPlace> keys_;
};

}  // namespace podsim::workloads
