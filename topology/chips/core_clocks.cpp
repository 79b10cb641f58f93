#include "topology/chips/core_clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace podsim::topology {
namespace {

constexpr std::array kV5e{1.5};
constexpr std::array kV5p{1.75};
constexpr std::array kV6e{1.75};
constexpr std::array kTpu7x{1.6, 1.7, 1.8, 1.9, 2.0, 2.05, 2.1, 2.2};

constexpr std::array<CoreClocks, 4> kClocks{{{.chip = "v5e", .ghz = kV5e},
                                             {.chip = "v5p", .ghz = kV5p},
                                             {.chip = "v6e", .ghz = kV6e},
                                             {.chip = "tpu7x", .ghz = kTpu7x, .usual = 3}}};

constexpr double kMeasuredInState7 = 1.125;

}  // namespace

std::optional<CoreClocks> core_clocks(std::string_view chip) {
    const auto* const found = std::ranges::find(kClocks, chip, &CoreClocks::chip);
    return found == kClocks.end() ? std::nullopt : std::optional(*found);
}

std::optional<double> pace_in_state(const CoreClocks& clocks, int state) {
    if (!clocks.has_states() || state < 0 || static_cast<std::size_t>(state) >= clocks.ghz.size()) {
        return std::nullopt;
    }
    if (clocks.chip == "tpu7x" && state == 7) {
        return kMeasuredInState7;
    }
    return std::round(clocks.ghz[static_cast<std::size_t>(state)] / clocks.usual_ghz() * 1000) /
           1000;
}

}  // namespace podsim::topology
