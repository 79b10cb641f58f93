#include "collectives/algorithms/messages.h"

#include <gtest/gtest.h>

#include "tests/topology/lattice_support.h"

namespace podsim::collectives {
namespace {

std::uint32_t of_block(double block, double cap) {
    return message_count(sim::Bytes(block), sim::Bytes(cap));
}

/// A count of messages beyond one is even, so that half of a block is a whole number of messages.
TEST(MessagesTest, OfABlock) {
    EXPECT_EQ(of_block(0, 3), 1U);
    EXPECT_EQ(of_block(1, 3), 1U);
    EXPECT_EQ(of_block(3, 3), 1U);
    EXPECT_EQ(of_block(4, 3), 2U);
    EXPECT_EQ(of_block(6, 3), 2U);
    EXPECT_EQ(of_block(9, 3), 4U);
    EXPECT_EQ(of_block(10, 3), 4U);
    EXPECT_EQ(of_block(13, 3), 6U);
}

TEST(MessagesTest, OfARoute) {
    const auto count = [](double bytes) { return messages_of(sim::Bytes(bytes), sim::Bytes(3)); };
    EXPECT_EQ(count(0), 1U);
    EXPECT_EQ(count(3), 1U);
    EXPECT_EQ(count(4), 2U);
    EXPECT_EQ(count(9), 3U);
}

TEST(MessagesTest, AreFewerThan20Million) {
    EXPECT_EQ(of_block(19'999'999, 1), 20'000'000U);
    EXPECT_EQ(topology::error_of([] { of_block(20e6, 1); }),
              "the array would be cut into more than 20 million messages; use a smaller array or a "
              "larger message cap");
}

}  // namespace
}  // namespace podsim::collectives
