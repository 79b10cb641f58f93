// Reads quantities as users write them: a number and a unit, `90 GB/s`, `1 us`, `64 MiB`, `4Mi`.
//
// k, M, G, T, P are powers of 1000 and Ki, Mi, Gi, Ti, Pi powers of 1024; B is a byte and b a bit
// (rates only). Blanks between the number and the unit are optional. The text is read the same in
// every locale.
//
// Every function throws sim::InputError for text that is not a number, a missing or unknown unit,
// NaN, a negative number and a number out of range. The error has no source position, which the
// caller knows; its remedy lists the accepted units.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// End of the problem's text if a unit is missing.
inline constexpr std::string_view kNoUnit = " has no unit";

/// Reads `64 MiB`, `16 GB`; finite.
sim::Bytes parse_bytes(std::string_view text);
/// Likewise, but a bare number means bytes: for options whose name is the unit.
sim::Bytes parse_bytes_or_number(std::string_view text);
/// Reads `90 GB/s`, `200 Gb/s` (an eighth of 200 GB/s), `inf GB/s`; above zero.
sim::BytesPerSecond parse_rate(std::string_view text);
/// Reads `1 us`, `2.2 s`, `0 us`; finite.
sim::Seconds parse_time(std::string_view text);
/// Reads `459 TFLOP/s`, `918 TOP/s`; above zero, finite.
sim::FlopsPerSecond parse_flops_rate(std::string_view text);
/// Reads `4Mi`, `15T`, `8192`: a whole number, at most 2^53, with an optional prefix.
std::int64_t parse_count(std::string_view text);
/// Reads `13.9`, `70.4G`, `6.3e24`: any number, with an optional prefix.
double parse_number(std::string_view text);
/// Reads `2`, `1.5x`: 1 or more.
double parse_multiple(std::string_view text);
/// Reads `10 %` as a fraction, 0.1.
double parse_percent(std::string_view text);
/// Reads `4.20 USD/chip-hour`.
double parse_price(std::string_view text);
/// Reads `4 requests/s`.
double parse_request_rate(std::string_view text);
/// Reads `1.9M tokens/s`, `1.9M`: the unit is optional, because it is the name of the key.
double parse_token_rate(std::string_view text);

/// True for a text of decimal digits alone, at least one.
bool is_number(std::string_view text);

}  // namespace podsim::scenarios
