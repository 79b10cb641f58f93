#include "scenarios/text/exact_text.h"

#include <utility>

namespace podsim::scenarios {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr double kKi = 1024;
constexpr Unit kBytes[] = {{"B", 1},    {"KiB", kKi}, {"MiB", kKi* kKi}, {"GiB", kKi* kKi* kKi},
                           {"kB", 1e3}, {"MB", 1e6},  {"GB", 1e9},       {"TB", 1e12}};
constexpr Unit kRates[] = {{"GB/s", 1e9}, {"MB/s", 1e6}, {"TB/s", 1e12}, {"B/s", 1}};
constexpr Unit kFlops[] = {{"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}, {"PFLOP/s", 1e15}};
constexpr Unit kTimes[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

/// `1.5 MiB`: the quotient by the fewest digits that give it again, and rounded, since it may have a digit too many.
std::vector<std::string> in_units(double value, std::span<const Unit> units) {
    std::vector<std::string> texts;
    for (const auto& [name, factor] : units) {
        texts.push_back(fmt::format("{:.15g} {}", value / factor, name));
        texts.push_back(fmt::format("{} {}", value / factor, name));
    }
    return texts;
}

}  // namespace

std::vector<std::string> candidates(double value) {
    return {fmt::format("{}", value), fmt::format("{:.15g} %", 100 * value),
            fmt::format("{} %", 100 * value)};
}

std::vector<std::string> candidates(sim::Bytes value) {
    return in_units(value.value(), kBytes);
}

std::vector<std::string> candidates(sim::BytesPerSecond value) {
    return in_units(value.value(), kRates);
}

std::vector<std::string> candidates(sim::FlopsPerSecond value) {
    return in_units(value.value(), kFlops);
}

std::vector<std::string> candidates(sim::Seconds value) {
    return in_units(value.value(), kTimes);
}

}  // namespace podsim::scenarios
