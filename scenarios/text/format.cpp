#include "scenarios/text/format.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace podsim::scenarios {
namespace {

struct Prefix {
    double factor;
    std::string_view name;
};

constexpr Prefix kDecimal[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},
                               {1e6, "M"},  {1e3, "k"},  {1, ""}};
constexpr Prefix kTime[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}};

/// Four significant digits of a number from 1 to 9999.
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

/// Characters that a terminal shows, counted as UTF-8 code points.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    std::size_t length = std::min(text.size(), kLongest);
    while (length < text.size() && length > 0 &&
           (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) {
        --length;  // not in the middle of a UTF-8 character
    }
    std::string shown;
    for (const char c : text.substr(0, length)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            shown += fmt::format("\\x{:02x}", byte);
        } else {
            shown += c;
        }
    }
    return length < text.size() ? shown + "..." : shown;
}

std::string one_line(std::string_view message) {
    std::string line;
    for (const char c : message) {
        const auto byte = static_cast<unsigned char>(c);
        line += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
    return line;
}

std::string in_quotes(std::string_view text) {
    return '\'' + printable(text) + '\'';
}

std::string format_time(double seconds) {
    if (seconds == 0) {
        return "0 s";
    }
    return scaled(seconds, kTime, "");
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

std::string Table::text(int indent) const {
    std::vector<std::size_t> widths;
    for (const auto& cells : rows_) {
        widths.resize(std::max(widths.size(), cells.size()));
        for (std::size_t column = 0; column < cells.size(); ++column) {
            widths[column] = std::max(widths[column], width(cells[column]));
        }
    }
    std::string text;
    for (const auto& cells : rows_) {
        std::string line(static_cast<std::size_t>(indent), ' ');
        for (std::size_t column = 0; column < cells.size(); ++column) {
            const std::string padding(widths[column] - width(cells[column]), ' ');
            const bool left = column == 0 || std::ranges::count(text_columns_, column) > 0;
            line += left ? cells[column] + padding : padding + cells[column];
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::vector<std::int64_t> apportion(std::span<const double> weights, std::int64_t total) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::int64_t> parts(weights.size(), 0);
    if (!(std::abs(sum) > 0)) {
        return parts;
    }
    std::vector<double> remainders(weights.size());
    std::int64_t left = total;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double exact = weights[i] / sum * static_cast<double>(total);
        parts[i] = static_cast<std::int64_t>(std::floor(exact));
        remainders[i] = exact - std::floor(exact);
        left -= parts[i];
    }
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::size_t i = 0; i < order.size() && left > 0; ++i, --left) {
        ++parts[order[i]];
    }
    return parts;
}

}  // namespace podsim::scenarios
