// The storage of a matrix, a file's statement about all of them, and the keys of a
// quantization_config.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "workloads/models/hf_modules.h"

namespace podsim::workloads::stored {

using Json = nlohmann::json;

/// A statement that podsim does not understand.
struct Unsaid : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The storage of a matrix.
struct Scheme {
    double bits = 16;      ///< of an element
    double scale = 0;      ///< bits of each scale, a zero point with it
    double inputs = 0;     ///< rows that share a scale; 0: all
    double outputs = 1;    ///< columns that share a scale; 0: all
    double of_row = 0;     ///< further bits of each row
    double of_matrix = 0;  ///< further bits

    [[nodiscard]] double bytes(const HfModule& of) const;
    [[nodiscard]] std::string text() const;
};

/// The statement of a file: schemes for the modules that their targets name (no targets: all), and
/// modules that stay as they are.
struct Said {
    struct Group {
        Scheme scheme;
        std::vector<HfPattern> targets{};
        bool experts_only = false;
    };
    std::vector<Group> groups{};
    std::vector<HfPattern> kept{};
    bool head = false;  ///< the unembedding is converted unless it is among those

    /// Returns the scheme of a module; nullptr if the module stays as it is.
    [[nodiscard]] const Scheme* of(const HfModule& module) const;
};

const Json* find(const Json& in, std::string_view key);
double number(const Json& in, std::string_view key, std::optional<double> fallback = {});
/// Returns the bits of an element.
double width(const Json& in, std::string_view key, std::optional<double> fallback = {});
std::string text(const Json& in, std::string_view key, const std::string& fallback = {});
bool flag(const Json& in, std::string_view key, bool fallback = false);
/// Reads patterns from a list of names, or from a single one; `as_python`: they match anywhere in a
/// name, as in Python's `re`.
std::vector<HfPattern> patterns(const Json* list, bool as_python = false);
/// Reads the patterns of the first of these keys that the object has.
std::vector<HfPattern> kept_by(const Json& in, std::initializer_list<const char*> keys);
/// Converts -1, a whole column, to 0.
double group_size(double said);
/// Reads a pair of numbers: columns and rows of a block.
std::pair<double, double> block_of(const Json& in, std::string_view key);
Said all_of(Scheme scheme, std::vector<HfPattern> kept = {});

inline constexpr double kHalf = 16;  // bits of a float16 or bfloat16
inline constexpr double kFloat = 32;
inline constexpr Scheme kFp8Tensor{.bits = 8, .scale = kFloat, .outputs = 0};
inline constexpr Scheme kFp8Channel{.bits = 8, .scale = kFloat};
inline constexpr Scheme kNvfp4{.bits = 4, .scale = 8, .inputs = 16, .of_matrix = kFloat};
inline constexpr Scheme kMxfp4{.bits = 4, .scale = 8, .inputs = 32};

struct Method {
    std::string_view name;
    Said (*read)(const Json& in);
};
/// Integers and look-up tables.
std::span<const Method> integer_methods();
/// Floats, and formats that have both.
std::span<const Method> group_methods();

}  // namespace podsim::workloads::stored
