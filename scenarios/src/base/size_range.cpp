#include "scenarios/src/base/size_range.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr int kMostPerDecade = 20;
constexpr const char* kRemedy =
    "write FROM:TO, FROM:TO:POINTS with 1 to 20 points per decade, or FROM:TO:xFACTOR, as in "
    "1e3:1e10 or 1KiB:64MiB:x2";

[[noreturn]] void refuse_range(std::string problem) {
    throw sim::InputError(std::move(problem), kRemedy);
}

sim::Bytes parse_array(std::string_view text) {
    const sim::Bytes bytes = parse_bytes_or_number(text);
    constexpr double kMost = 1e15;
    if (bytes.value() <= 0 || bytes.value() > kMost) {
        throw sim::InputError("the size is out of range", "allowed: above 0, up to 1 PB");
    }
    return bytes;
}

std::string_view without_spaces(std::string_view text) {
    while (text.starts_with(' ')) {
        text.remove_prefix(1);
    }
    while (text.ends_with(' ')) {
        text.remove_suffix(1);
    }
    return text;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t at = text.find(':');
        parts.push_back(without_spaces(text.substr(0, at)));
        if (at == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(at + 1);
    }
}

/// Returns the whole text as a number; nothing if it is none.
template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

/// Returns the multipliers of one round of sizes. The last one leads to the next round.
std::vector<double> multipliers(std::string_view step) {
    if (step.starts_with('x')) {
        const std::optional<double> factor = number<double>(step.substr(1));
        if (!factor.has_value() || !(*factor > 1) || !std::isfinite(*factor)) {
            refuse_range(fmt::format("{} is not a factor above 1", in_quotes(step)));
        }
        return {*factor};
    }
    const std::optional<int> points = number<int>(step);
    if (!points.has_value() || *points < 1 || *points > kMostPerDecade) {
        refuse_range(fmt::format("{} is neither points per decade nor a factor", in_quotes(step)));
    }
    std::vector<double> round;
    for (int i = 1; i <= *points; ++i) {
        // Three digits are kept, because the last bits of pow differ between libraries.
        round.push_back(std::round(std::pow(10.0, static_cast<double>(i) / *points) * 100) / 100);
    }
    return round;
}

}  // namespace

bool is_range(std::string_view text) {
    return text.find(':') != std::string_view::npos;
}

std::vector<sim::Bytes> parse_sizes(std::string_view text) {
    if (!is_range(text)) {
        return {parse_array(text)};
    }
    const std::vector<std::string_view> parts = split(text);
    if (parts.size() > 3) {
        refuse_range(fmt::format("the range has {} parts", parts.size()));
    }
    if (parts[0].empty() || parts[1].empty()) {
        refuse_range(fmt::format("the range has no {}", parts[0].empty() ? "start" : "end"));
    }
    const double from = parse_array(parts[0]).value();
    const double to = parse_array(parts[1]).value();
    if (to < from) {
        refuse_range("the range ends below its start");
    }
    const std::vector<double> round = multipliers(parts.size() == 3 ? parts[2] : "1");
    std::vector<sim::Bytes> sizes{sim::Bytes(from)};
    // A size next to the end is replaced by the end.
    const double last = to * (1 - 1e-9);
    std::size_t steps = 0;
    for (double base = from; base < last; base *= round.back()) {
        for (const double multiplier : round) {
            // The limit counts steps, not sizes: tiny factors make many steps of the same whole
            // bytes.
            if (++steps >= kMostSizes) {
                refuse_range(fmt::format("the range has more than {} sizes", kMostSizes));
            }
            const double size = std::round(base * multiplier);
            if (base * multiplier < last && size > sizes.back().value()) {
                sizes.emplace_back(size);
            }
        }
    }
    if (to > sizes.back().value()) {
        sizes.emplace_back(to);
    }
    return sizes;
}

}  // namespace podsim::scenarios
