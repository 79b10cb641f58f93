// Clocks of cores by state. Expected ratios by hand, from the GHz that XLA has.
#include "topology/chips/core_clocks.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "topology/chips/chip.h"

namespace podsim::topology {
namespace {

TEST(CoreClocks, StatesOfTpu7xByTheDefault) {
    const auto clocks = core_clocks("tpu7x");
    ASSERT_TRUE(clocks.has_value());
    EXPECT_EQ(clocks->usual_ghz(), 1.9);
    // 16, 17, 18, 19, 20, 20.5 and 21 of 19; 22 of 19 would be 1.158.
    const std::vector<double> paces{0.842, 0.895, 0.947, 1, 1.053, 1.079, 1.105, 1.125};
    ASSERT_EQ(clocks->ghz.size(), paces.size());
    for (std::size_t state = 0; state < paces.size(); ++state) {
        EXPECT_EQ(pace_in_state(*clocks, static_cast<int>(state)), paces[state]) << state;
    }
    EXPECT_EQ(pace_in_state(*clocks, -1), std::nullopt);
    EXPECT_EQ(pace_in_state(*clocks, 8), std::nullopt);
}

// Chips without states have one clock; of the oldest none was published with the others.
TEST(CoreClocks, OfAllChips) {
    std::vector<std::string> with_clock;
    for (const ChipSpec& chip : chip_catalogue()) {
        if (const auto clocks = core_clocks(chip.name)) {
            with_clock.push_back(chip.name);
            EXPECT_EQ(clocks->has_states(), chip.name == "tpu7x");
            if (!clocks->has_states()) {
                EXPECT_EQ(pace_in_state(*clocks, 0), std::nullopt);
            }
        }
    }
    EXPECT_EQ(with_clock, (std::vector<std::string>{"v5p", "v5e", "v6e", "tpu7x"}));
    EXPECT_FALSE(core_clocks("v4p").has_value());
}

}  // namespace
}  // namespace podsim::topology
