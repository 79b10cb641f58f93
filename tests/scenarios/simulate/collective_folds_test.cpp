// Folded and unfolded runs of a lone collective report the same times, events, and use of
// every axis.
#include <gtest/gtest.h>

#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {
namespace {

using collectives::Group;
using collectives::Operation;

TEST(CollectiveFolds, ReportsOfWholeSlicesAreEqual) {
    for (const Group& group : {Group{{0, 1, 4}, {1, 1, 4}, {2, 1, 8}}, Group{{2, 1, 4}},
                               Group{{0, 2, 2}, {2, 4, 2}}, Group{{1, 1, 2}, {2, 1, 8}}}) {
        for (const Operation operation :
             {Operation::all_gather, Operation::reduce_scatter, Operation::all_reduce}) {
            CollectiveRequest request;
            request.hardware.chip = topology::find_chip("v5p");
            request.hardware.shape = {4, 4, 8};
            request.hardware.slice =
                topology::make_slice(request.hardware.chip, request.hardware.shape, false);
            request.operation = operation;
            request.members.group = group;
            request.bytes = sim::Bytes(3e7);
            const auto small = simulate_collective(request, Fold::automatic);
            const auto whole = simulate_collective(request, Fold::off);
            EXPECT_LT(small.simulated_chips, 128);
            EXPECT_EQ(whole.simulated_chips, 128);
            EXPECT_EQ(small.simulated.ps, whole.simulated.ps);
            EXPECT_EQ(whole.events * static_cast<std::uint64_t>(small.simulated_chips),
                      small.events * 128);
            ASSERT_EQ(small.links.size(), 4U);  // three axes and the HBM
            ASSERT_EQ(whole.links.size(), 4U);
            for (std::size_t i = 0; i < 4; ++i) {
                EXPECT_EQ(small.links[i].name, whole.links[i].name);
                EXPECT_EQ(small.links[i].busy_fraction, whole.links[i].busy_fraction);
                EXPECT_EQ(small.links[i].bytes.value(), whole.links[i].bytes.value());
            }
        }
    }
}

}  // namespace
}  // namespace podsim::scenarios
