#include "scenarios/src/base/exact_text.h"

#include <utility>

namespace podsim::scenarios {
namespace {

using Scale = std::pair<std::string_view, double>;

constexpr double kKibi = 1024;
constexpr Scale kByteScales[] = {
    {"B", 1},    {"KiB", kKibi}, {"MiB", kKibi* kKibi}, {"GiB", kKibi* kKibi* kKibi},
    {"kB", 1e3}, {"MB", 1e6},    {"GB", 1e9},           {"TB", 1e12}};
constexpr Scale kRateScales[] = {{"GB/s", 1e9}, {"MB/s", 1e6}, {"TB/s", 1e12}, {"B/s", 1}};
constexpr Scale kFlopsScales[] = {{"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}, {"PFLOP/s", 1e15}};
constexpr Scale kTimeScales[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

/// Returns texts such as `1.5 MiB`. The quotient has the fewest digits that restore it; a rounded
/// one comes first, because the exact one may have a digit too many.
std::vector<std::string> in_units(double value, std::span<const Scale> units) {
    std::vector<std::string> texts;
    for (const auto& [name, factor] : units) {
        texts.push_back(fmt::format("{:.15g} {}", value / factor, name));
        texts.push_back(fmt::format("{} {}", value / factor, name));
    }
    return texts;
}

}  // namespace

std::size_t reading_of(std::string_view text) {
    constexpr std::size_t kExponent = 4;
    constexpr std::size_t kLessThanOne = 3;
    const auto has = [&](std::string_view part) {
        return text.find(part) != std::string_view::npos;
    };
    return text.size() + (has("e-") || has("e+") ? kExponent : 0) +
           (text.starts_with("0.") && has(" ") ? kLessThanOne : 0);
}

std::vector<std::string> candidates(double value) {
    return {fmt::format("{}", value), fmt::format("{:.15g} %", 100 * value),
            fmt::format("{} %", 100 * value)};
}

std::vector<std::string> candidates(sim::Bytes value) {
    return in_units(value.value(), kByteScales);
}

std::vector<std::string> candidates(sim::BytesPerSecond value) {
    return in_units(value.value(), kRateScales);
}

std::vector<std::string> candidates(sim::FlopsPerSecond value) {
    return in_units(value.value(), kFlopsScales);
}

std::vector<std::string> candidates(sim::Seconds value) {
    return in_units(value.value(), kTimeScales);
}

}  // namespace podsim::scenarios
