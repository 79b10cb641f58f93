// Writes values as scenario text that is read as the same value to the last bit.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// True if the text of a value is a number and a unit.
template <class T>
inline constexpr bool HasUnit =
    std::is_same_v<T, sim::Bytes> || std::is_same_v<T, sim::BytesPerSecond> ||
    std::is_same_v<T, sim::FlopsPerSecond> || std::is_same_v<T, sim::Seconds>;

/// Returns the texts that may represent a value, the plainest first.
std::vector<std::string> candidates(double value);
std::vector<std::string> candidates(sim::Bytes value);
std::vector<std::string> candidates(sim::BytesPerSecond value);
std::vector<std::string> candidates(sim::FlopsPerSecond value);
std::vector<std::string> candidates(sim::Seconds value);
inline std::vector<std::string> candidates(std::int64_t value) {
    return {fmt::format("{}", value)};
}
inline std::vector<std::string> candidates(const std::string& value) {
    return {value};
}

/// Returns how hard a text is to read: its letters, four more for an exponent, three more for less
/// than one of a unit.
std::size_t reading_of(std::string_view text);

/// Returns the first text that `parse` reads as the value, or a later one that is easier to read by
/// more than two letters; empty if no text is read as the value.
template <class T, class Parse>
std::string exact_text(const T& value, Parse parse) {
    std::string best;
    if constexpr (HasUnit<T> || std::is_same_v<T, double> || std::is_same_v<T, std::int64_t> ||
                  std::is_same_v<T, std::string>) {
        for (std::string& text : candidates(value)) {
            try {
                if ((best.empty() || reading_of(text) + 2 < reading_of(best)) &&
                    parse(text) == value) {
                    best = std::move(text);
                }
            } catch (const sim::InputError&) {
                continue;  // outside of the key's range
            }
        }
    }
    return best;
}

}  // namespace podsim::scenarios
