#include "scenarios/src/base/quantity_text.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <system_error>
#include <vector>

#include "scenarios/src/base/quote.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

/// A value is number x factor / divisor: the division keeps decimal fractions correctly rounded.
struct Unit {
    std::string_view name;
    double factor = 1;
    double divisor = 1;
};

constexpr double kKi = 1024.0;

constexpr Unit kByteUnits[] = {
    {"B", 1},
    {"kB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"PB", 1e15},
    {"KiB", kKi},
    {"MiB", kKi* kKi},
    {"GiB", kKi* kKi* kKi},
    {"TiB", kKi* kKi* kKi* kKi},
};
constexpr Unit kRateUnits[] = {
    {"B/s", 1},
    {"kB/s", 1e3},
    {"MB/s", 1e6},
    {"GB/s", 1e9},
    {"TB/s", 1e12},
    {"KiB/s", kKi},
    {"MiB/s", kKi* kKi},
    {"GiB/s", kKi* kKi* kKi},
    {"TiB/s", kKi* kKi* kKi* kKi},
    {"Mb/s", 1e6, 8},
    {"Gb/s", 1e9, 8},
    {"Tb/s", 1e12, 8},
};
constexpr Unit kTimeUnits[] = {
    {"ps", 1, 1e12}, {"ns", 1, 1e9}, {"us", 1, 1e6}, {"ms", 1, 1e3}, {"s"}};
constexpr Unit kFlopsUnits[] = {
    {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15},
    {"GOP/s", 1e9},   {"TOP/s", 1e12},   {"POP/s", 1e15},
};
constexpr Unit kCountUnits[] = {
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"Ki", kKi},
    {"Mi", kKi* kKi},
    {"Gi", kKi* kKi* kKi},
    {"Ti", kKi* kKi* kKi* kKi},
};
constexpr Unit kRatioUnits[] = {{"x", 1}};
constexpr Unit kPercentUnits[] = {{"%", 1, 100}};
constexpr Unit kPriceUnits[] = {{"USD/chip-hour", 1}};
constexpr Unit kRequestRateUnits[] = {{"requests/s", 1}};
constexpr Unit kTokenRateUnits[] = {
    {"tokens/s", 1}, {"k tokens/s", 1e3}, {"M tokens/s", 1e6}, {"k", 1e3}, {"M", 1e6},
};

/// The names of a quantity in messages, and the numbers that it accepts.
struct Form {
    std::string_view noun;     ///< `a rate`
    std::string_view example;  ///< `90 GB/s`
    std::span<const Unit> units;
    bool bare_allowed = false;
    bool infinite_allowed = false;
    bool zero_allowed = true;
};

std::string remedy(const Form& form) {
    std::vector<std::string_view> names;
    for (const Unit& unit : form.units) {
        names.push_back(unit.name);
    }
    return fmt::format("write {} such as {}; units: {}", form.noun, form.example,
                       fmt::join(names, ", "));
}

[[noreturn]] void fail(const Form& form, std::string problem) {
    throw sim::InputError(std::move(problem), remedy(form));
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

Unit find_unit(const Form& form, std::string_view unit, std::string_view whole) {
    if (unit.empty()) {
        if (form.bare_allowed) {
            return {};
        }
        fail(form, in_quotes(whole) + std::string(kNoUnit));
    }
    std::vector<std::string> names;
    for (const Unit& candidate : form.units) {
        if (candidate.name == unit) {
            return candidate;
        }
        names.emplace_back(candidate.name);
    }
    const std::string meant = sim::nearest(unit, names);
    throw sim::InputError(
        fmt::format("{} has the unknown unit {}", in_quotes(whole), in_quotes(unit)),
        remedy(form) + (meant.empty() ? "" : "; nearest: " + meant));
}

/// Returns the number at the start of `text`; `rest` becomes the text behind it.
double take_number(const Form& form, std::string_view text, std::string_view& rest) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc::result_out_of_range) {
        fail(form, fmt::format("{} is out of range", in_quotes(text)));
    }
    if (error != std::errc{}) {
        fail(form, fmt::format("{} is not {}", in_quotes(text), form.noun));
    }
    rest = trim(std::string_view(stop, static_cast<std::size_t>(end - stop)));
    return number;
}

double parse(const Form& form, std::string_view text) {
    text = trim(text);
    std::string_view unit;
    const double number = take_number(form, text, unit);
    if (std::isnan(number)) {
        fail(form, fmt::format("{} is not a number", in_quotes(text)));
    }
    if (number < 0 || std::signbit(number)) {
        fail(form, fmt::format("{} is negative", in_quotes(text)));
    }
    const Unit scale = find_unit(form, unit, text);
    const double value = number * scale.factor / scale.divisor;
    if (std::isinf(number) && !form.infinite_allowed) {
        fail(form, fmt::format("{} is infinite", in_quotes(text)));
    }
    if (std::isinf(value) && !std::isinf(number)) {
        fail(form, fmt::format("{} is out of range", in_quotes(text)));
    }
    if (value == 0 && !form.zero_allowed) {
        fail(form, fmt::format("{} is zero", in_quotes(text)));
    }
    return value;
}

constexpr Form kBytes{"a size", "64 MiB", kByteUnits};
constexpr Form kBareBytes{"a size", "1e9 or 64 MiB", kByteUnits, true};
constexpr Form kRate{"a rate", "90 GB/s", kRateUnits, false, true, false};
constexpr Form kTime{"a time", "1 us", kTimeUnits};
constexpr Form kFlops{"a rate of operations", "459 TFLOP/s", kFlopsUnits, false, false, false};
constexpr Form kCount{"a whole number", "4Mi", kCountUnits, true};
constexpr Form kNumber{"a number", "13.9 or 70.4G", kCountUnits, true};
constexpr Form kPercent{"a percentage", "10 %", kPercentUnits};
constexpr Form kRatio{"a ratio of 1 or more", "2 or 1.5x", kRatioUnits, true};
constexpr Form kPrice{"a price", "4.20 USD/chip-hour", kPriceUnits};
constexpr Form kRequestRate{"a rate of requests", "4 requests/s", kRequestRateUnits};
constexpr Form kTokenRate{"a token rate", "1.9M tokens/s", kTokenRateUnits, true};

}  // namespace

sim::Bytes parse_bytes(std::string_view text) {
    return sim::Bytes(parse(kBytes, text));
}

sim::Bytes parse_bytes_or_number(std::string_view text) {
    return sim::Bytes(parse(kBareBytes, text));
}

sim::BytesPerSecond parse_rate(std::string_view text) {
    return sim::BytesPerSecond(parse(kRate, text));
}

sim::Seconds parse_time(std::string_view text) {
    return sim::Seconds(parse(kTime, text));
}

sim::FlopsPerSecond parse_flops_rate(std::string_view text) {
    return sim::FlopsPerSecond(parse(kFlops, text));
}

std::int64_t parse_count(std::string_view text) {
    const std::string digits(trim(text));
    if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') {
        // YAML 1.1 reads 0200 as 128.
        fail(kCount, fmt::format("{} begins with 0, as octal numbers do", in_quotes(digits)));
    }
    const double value = parse(kCount, text);
    constexpr double kLimit = 9007199254740992.0;  // 2^53: every whole number below is exact
    if (value > kLimit) {
        fail(kCount, fmt::format("{} is out of range", in_quotes(trim(text))));
    }
    if (value != std::floor(value)) {
        fail(kCount, fmt::format("{} is not a whole number", in_quotes(trim(text))));
    }
    return static_cast<std::int64_t>(value);
}

double parse_number(std::string_view text) {
    return parse(kNumber, text);
}

double parse_multiple(std::string_view text) {
    const double value = parse(kRatio, text);
    if (value < 1) {
        fail(kRatio, fmt::format("{} is below 1", in_quotes(trim(text))));
    }
    return value;
}

double parse_percent(std::string_view text) {
    return parse(kPercent, text);
}

double parse_price(std::string_view text) {
    return parse(kPrice, text);
}

double parse_request_rate(std::string_view text) {
    return parse(kRequestRate, text);
}

double parse_token_rate(std::string_view text) {
    return parse(kTokenRate, text);
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace podsim::scenarios
