// How a matrix is stored, what a file says of all of them, and how keys of a quantization_config are read.
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

#include "workloads/hf_file/hf_modules.h"

namespace podsim::workloads::stored {

using Json = nlohmann::json;

/// What podsim cannot say.
struct Unsaid : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How a matrix is stored.
struct Scheme {
    double bits = 16;      ///< of an element
    double scale = 0;      ///< bits of each scale, a zero point with it
    double inputs = 0;     ///< rows that share a scale; 0: all
    double outputs = 1;    ///< columns that do; 0: all
    double of_row = 0;     ///< bits of each row besides
    double of_matrix = 0;  ///< bits besides

    [[nodiscard]] double bytes(const HfModule& of) const;
    [[nodiscard]] std::string text() const;
};

/// What a file says: schemes for the modules that their targets name (no targets: all), and modules that stay as they are.
struct Said {
    struct Group {
        Scheme scheme;
        std::vector<HfPattern> targets{};
        bool experts_only = false;
    };
    std::vector<Group> groups{};
    std::vector<HfPattern> kept{};
    bool head = false;  ///< the unembedding is converted unless it is among those

    /// Nothing of a module that stays as it is.
    [[nodiscard]] const Scheme* of(const HfModule& module) const;
};

const Json* find(const Json& in, std::string_view key);
double number(const Json& in, std::string_view key, std::optional<double> fallback = {});
/// Bits of an element.
double width(const Json& in, std::string_view key, std::optional<double> fallback = {});
std::string text(const Json& in, std::string_view key, const std::string& fallback = {});
bool flag(const Json& in, std::string_view key, bool fallback = false);
/// Patterns of a list of names, or of a single one; as Python's `re` has them, anywhere in a name.
std::vector<HfPattern> patterns(const Json* list, bool as_python = false);
/// Those of the first of these keys that is there.
std::vector<HfPattern> kept_by(const Json& in, std::initializer_list<const char*> keys);
/// -1, a whole column, is 0.
double group_size(double said);
/// A pair of numbers: columns and rows of a block.
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
/// Whole numbers and look-up tables.
std::span<const Method> integer_methods();
/// Floats, and formats that have both.
std::span<const Method> group_methods();

}  // namespace podsim::workloads::stored
