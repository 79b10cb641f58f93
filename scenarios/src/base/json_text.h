// Writes JSON whose numbers have the fewest digits that give the same double.
//
// A time below 2^13 s (8192 s) is therefore written with its own decimals: two times a picosecond
// apart are different doubles there, and a decimal with fewer digits that gave the same double
// would be such a time too. Times that add up to a step in picoseconds thus add up to it as
// decimals. (The JSON library's own text has a digit too many in one of 600 numbers:
// 0.7799851614809999 for 779985161481 ps.)
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "sim/base/time.h"

namespace podsim::scenarios {

using Json = nlohmann::ordered_json;

/// The value of `schema` in every JSON document of podsim.
inline constexpr const char* kSchemaName = "podsim/2";

/// Writes JSON with `indent` blanks for each level, or on one line. Bytes that are not UTF-8 are
/// replaced; numbers that are not finite become null.
std::string json_text(const Json& json, int indent);
std::string json_line(const Json& json);

/// Writes a text as a YAML scalar: as it is, or in JSON's quotes if it needs them.
std::string yaml_scalar(const std::string& text);

/// Returns the double nearest to the decimal value of a time, for JSON.
inline double decimal_seconds(sim::Time time) {
    return static_cast<double>(time.ps) / 1e12;
}

}  // namespace podsim::scenarios
