#include "scenarios/src/simulate/shares.h"

#include <gtest/gtest.h>

namespace podsim::scenarios {
namespace {

// Two shares of one cause, 30 + 40, outweigh the largest single share, 60.
TEST(Shares, PartsOfOneCauseAreSummedFirst) {
    const std::vector<Share> shares{{"kernels", {60}},
                                    {"AllGather", {30}, "over tensor"},
                                    {"latency", {-5}},
                                    {"ReduceScatter", {40}, "over tensor"}};
    const std::vector<Share> causes = by_cause(shares);
    ASSERT_EQ(causes.size(), 3U);
    EXPECT_EQ(causes[0].name, "over tensor");
    EXPECT_EQ(causes[0].time, sim::Time{70});
    EXPECT_EQ(causes[1].name, "kernels");
    EXPECT_EQ(causes[2].time, sim::Time{-5});
}

}  // namespace
}  // namespace podsim::scenarios
