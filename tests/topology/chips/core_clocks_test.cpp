// Clocks of cores by state, with expected ratios by hand, from the GHz in XLA.
#include "topology/chips/core_clocks.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "topology/chips/chip.h"

namespace podsim::topology {
namespace {

TEST(CoreClocks, StatesOfTpu7xByTheDefault) {
    const ChipSpec& chip = find_chip("tpu7x");
    EXPECT_EQ(usual_ghz(chip), 1.9);
    // The states are 16, 17, 18, 19, 20, 20.5 and 21 over 19; 22 over 19 would be 1.158.
    const std::vector<double> paces{0.842, 0.895, 0.947, 1, 1.053, 1.079, 1.105, 1.125};
    ASSERT_EQ(chip.clock_ghz.value.size(), paces.size());
    for (std::size_t state = 0; state < paces.size(); ++state) {
        EXPECT_EQ(pace_in_state(chip, static_cast<int>(state)), paces[state]) << state;
    }
    EXPECT_EQ(pace_in_state(chip, -1), std::nullopt);
    EXPECT_EQ(pace_in_state(chip, 8), std::nullopt);
}

// Chips without states have one clock; none was published for the oldest.
TEST(CoreClocks, OfAllChips) {
    std::vector<std::string> with_clock;
    for (const ChipSpec& chip : chip_catalogue()) {
        EXPECT_EQ(has_states(chip), chip.name == "tpu7x");
        if (!has_states(chip)) {
            EXPECT_EQ(pace_in_state(chip, 0), std::nullopt);
        }
        if (!chip.clock_ghz.value.empty()) {
            with_clock.push_back(chip.name);
            EXPECT_FALSE(chip.clock_ghz.source.empty());
        }
    }
    EXPECT_EQ(with_clock, (std::vector<std::string>{"v5p", "v5e", "v6e", "tpu7x"}));
}

}  // namespace
}  // namespace podsim::topology
