// Random modules are counted and played; changed ones are too, or are refused at one of their
// lines. PODSIM_MODULES=N runs N of each.
#include "tests/workloads/hlo/made_modules.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

#include "sim/base/error.h"
#include "workloads/hlo/import_step.h"
#include "workloads/hlo/read_module.h"
#include "workloads/hlo/totals.h"

namespace podsim::workloads::hlo {
namespace {

std::uint32_t how_many() {
    constexpr std::uint32_t kQuick = 3000;
    const char* const asked = std::getenv("PODSIM_MODULES");
    return asked != nullptr ? static_cast<std::uint32_t>(std::strtoul(asked, nullptr, 10)) : kQuick;
}

/// Returns how many numbers JSON cannot represent.
int without_text(const Totals& totals) {
    int count = 0;
    const auto look = [&](double value) { count += std::isfinite(value) ? 0 : 1; };
    for (const double value :
         {totals.matmuls, totals.matmul_flops.value(), totals.attention_flops.value(),
          totals.given_flops.value(), totals.estimated_flops.value(), totals.vector.value(),
          totals.hbm.value(), totals.remote.value(), totals.host_bytes.value(), totals.left_out,
          totals.parameters.value(), totals.host_copies}) {
        look(value);
    }
    for (const auto& [key, total] : totals.collectives) {
        look(total.count);
        look(total.result.value());
        look(total.received.value());
    }
    for (const auto& [types, total] : totals.matmul_types) {
        look(total.flops.value());
    }
    for (const LoopTotal& loop : totals.loops) {
        look(loop.runs);
    }
    return count;
}

/// Reads, counts and, if it is short, plays a module; returns the number of operations.
std::size_t use(const std::string& text) {
    constexpr std::int64_t kMostDevices = 4096;
    constexpr double kMostIterations = 1000;
    const Module module = read_module(text, "m.txt");
    const Totals totals = totals_of(module, {}, {});
    EXPECT_EQ(without_text(totals), 0);
    double iterations = 1;
    for (const LoopTotal& loop : totals.loops) {
        iterations += static_cast<double>(loop.trips) * loop.runs;
    }
    if (totals.devices > kMostDevices || iterations > kMostIterations) {
        return 0;
    }
    return import_step(module, DeviceAxes(module, totals.devices, {}), {}, {}).program.ops.size();
}

TEST(MadeModules, AreCountedAndPlayed) {
    std::size_t operations = 0;
    for (std::uint32_t seed = 0; seed < how_many(); ++seed) {
        try {
            operations += use(made_module(seed));
        } catch (const sim::InputError& error) {
            FAIL() << "seed " << seed << ": " << error.what() << '\n' << made_module(seed);
        }
    }
    EXPECT_GT(operations, 10 * how_many());
}

TEST(MadeModules, ChangedOnesAreCountedOrRefusedAtALine) {
    std::uint32_t refused = 0;
    for (std::uint32_t seed = 0; seed < how_many(); ++seed) {
        const std::string text = changed_module(seed);
        try {
            use(text);
        } catch (const sim::InputError& error) {
            ++refused;
            const auto lines = std::ranges::count(text, '\n') + 1;
            EXPECT_EQ(error.mark().file, "m.txt") << "seed " << seed << ": " << error.what();
            EXPECT_GE(error.mark().line, 1) << "seed " << seed << ": " << error.what();
            EXPECT_LE(error.mark().line, lines) << "seed " << seed << ": " << error.what();
        }
    }
    EXPECT_GT(refused, how_many() / 10);
    EXPECT_LT(refused, how_many() - how_many() / 10);
}

}  // namespace
}  // namespace podsim::workloads::hlo
