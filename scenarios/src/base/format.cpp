#include "scenarios/src/base/format.h"

#include <cmath>
#include <fmt/format.h>
#include <span>
#include <string_view>

namespace podsim::scenarios {
namespace {

struct Prefix {
    double factor;
    std::string_view name;
};

constexpr Prefix kDecimal[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},
                               {1e6, "M"},  {1e3, "k"},  {1, ""}};
constexpr Prefix kOfSecond[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}};

/// Writes four significant digits of a number from 1 to 9999.
std::string four_digits(double value) {
    const double size = std::abs(value);
    const int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
    return fmt::format("{:.{}f}", value, decimals);
}

std::string scaled(double value, std::span<const Prefix> prefixes, std::string_view unit) {
    if (!std::isfinite(value)) {
        return fmt::format("{}", value);
    }
    if (value == 0) {
        return fmt::format("0 {}", unit);
    }
    const Prefix* chosen = &prefixes.back();
    for (const Prefix& prefix : prefixes) {
        if (std::abs(value) >= prefix.factor * 0.99995) {
            chosen = &prefix;
            break;
        }
    }
    return fmt::format("{} {}{}", four_digits(value / chosen->factor), chosen->name, unit);
}

}  // namespace

std::string format_time(double seconds) {
    if (seconds == 0) {
        return "0 s";
    }
    return scaled(seconds, kOfSecond, "");
}

std::string format_bytes(sim::Bytes bytes) {
    return scaled(bytes.value(), kDecimal, "B");
}

std::string format_rate(sim::BytesPerSecond rate) {
    return scaled(rate.value(), kDecimal, "B/s");
}

std::string format_flops_rate(sim::FlopsPerSecond rate) {
    return scaled(rate.value(), kDecimal, "FLOP/s");
}

std::string format_count(double count) {
    std::string text = scaled(count, kDecimal, "");
    std::erase(text, ' ');
    return text;
}

std::string format_percent(double fraction) {
    return four_digits(fraction * 100) + " %";
}

}  // namespace podsim::scenarios
