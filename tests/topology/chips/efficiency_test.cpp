// The profile `measured`.
#include "topology/chips/efficiency.h"

#include <gtest/gtest.h>

#include "topology/chips/chip.h"

namespace podsim::topology {
namespace {

TEST(Efficiency, IdealIsAllOnesWithoutOverheads) {
    const Efficiency ideal;
    for (const EfficiencyFactor& factor : efficiency_factors()) {
        const bool overhead = factor.name == "mxu_ramp" || factor.name == "launch_s" ||
                              factor.name == "straggler" || factor.name == "kernel_s" ||
                              factor.name == "sequence_s" || factor.name == "host_s" ||
                              factor.name == "grid_step_s";
        // Without their own fractions they use those of other matmuls and of attention forward.
        const bool none = factor.name == "mxu_grouped" || factor.name == "attention_backward";
        EXPECT_EQ(ideal.*(factor.value), overhead || none ? 0 : 1) << factor.name;
    }
}

TEST(Efficiency, MeasuredChipsHaveFactorsInTheirRangeEachWithASource) {
    int measured = 0;
    for (const ChipSpec& chip : chip_catalogue()) {
        const std::optional<Efficiency> efficiency = measured_efficiency(chip.name);
        if (!efficiency.has_value()) {
            EXPECT_TRUE(chip.name == "v2" || chip.name == "v3") << chip.name;
            continue;
        }
        ++measured;
        for (const EfficiencyFactor& factor : efficiency_factors()) {
            EXPECT_GE((*efficiency).*(factor.value), factor.least) << factor.name;
            EXPECT_LE((*efficiency).*(factor.value), factor.most) << factor.name;
            const bool as_ideal = (*efficiency).*(factor.value) == Efficiency{}.*(factor.value);
            const bool has_source =
                efficiency_source(chip.name, factor.name) != "not measured: as in profile ideal";
            // In 8 bits v4p has the rate of bf16, and v5p's steps are at the limit.
            EXPECT_TRUE(has_source != as_ideal || (has_source && factor.name == "mxu_8bit"))
                << chip.name << ' ' << factor.name;
        }
    }
    EXPECT_EQ(measured, 5);
}

}  // namespace
}  // namespace podsim::topology
