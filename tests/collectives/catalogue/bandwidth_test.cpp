// The two bandwidths of nccl-tests, for 8 ranks and 1600 B in 2 s.
#include "collectives/catalogue/bandwidth.h"

#include <gtest/gtest.h>
#include <utility>

namespace podsim::collectives {
namespace {

TEST(BandwidthTest, FollowsNcclTests) {
    const auto both = [](Operation operation) {
        const Bandwidth value = bandwidth(operation, 8, sim::Bytes(1600), sim::Seconds(2));
        return std::pair{value.algorithm.value(), value.bus.value()};
    };
    EXPECT_EQ(both(Operation::all_gather), std::pair(800.0, 700.0));
    EXPECT_EQ(both(Operation::reduce_scatter), std::pair(800.0, 700.0));
    EXPECT_EQ(both(Operation::all_reduce), std::pair(800.0, 1400.0));
    // For these operations only the buffer of one rank counts.
    EXPECT_EQ(both(Operation::all_to_all), std::pair(100.0, 87.5));
    EXPECT_EQ(both(Operation::permute), std::pair(100.0, 100.0));
    EXPECT_EQ(both(Operation::send), std::pair(800.0, 800.0));
    EXPECT_EQ(both(Operation::broadcast), std::pair(800.0, 800.0));
    EXPECT_EQ(both(Operation::gather), std::pair(800.0, 700.0));
    EXPECT_EQ(both(Operation::scatter), std::pair(800.0, 700.0));
}

}  // namespace
}  // namespace podsim::collectives
