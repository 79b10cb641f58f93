// Routes over hosts and the network, and the facts that folding reads from them.
#include "topology/graph/machine_routes.h"

#include <gtest/gtest.h>

#include "tests/topology/lattice_support.h"
#include "topology/graph/link_kinds.h"
#include "topology/lattice/hosts.h"
#include "topology/mesh/fold.h"

namespace podsim::topology {
namespace {

/// The route goes up to the chip's host, out of it, into the other's host, and down to the other
/// chip; chips of a host share its links.
const MachineRoute kBetweenSlices{{kPcieToHost, false, {}, false},
                                  {kDcnOut, false, {}, true},
                                  {kDcnIn, true, {}, true},
                                  {kPcieToChip, true, {}, false}};

// The route holds on every slice, from and to every
// chip, however near the two are on the torus of hosts.
TEST(MachineRoutes, BetweenSlicesOverBothHosts) {
    std::vector<std::pair<Lattice, Point>> machines{
        {offered_twisted({4, 4, 8}), {2, 2, 1}},
        {Lattice{.lengths = {1, 1, 1}, .wrapped = {}, .wrap_shift = {}}, {1, 1, 1}},
        {Lattice{.lengths = {1, 1, 1}, .wrapped = {true, true, true}, .wrap_shift = {}}, {1, 1, 1}},
        {Lattice{.lengths = {2, 2, 1}, .wrapped = {true, true, true}, .wrap_shift = {}}, {2, 2, 1}},
        {Lattice{.lengths = {5, 3, 1}, .wrapped = {false, true, false}, .wrap_shift = {}},
         {4, 2, 1}},
    };
    Random random(5);
    for (int i = 0; i < 12; ++i) {
        machines.emplace_back(random_lattice(random, 4), Point{1 + random.below(2), 2, 1});
    }
    for (const auto& [slice, host] : machines) {
        MachineRoutes routes(slice, host);
        for (int from = 0; from < slice.size(); ++from) {
            for (int to = 0; to < slice.size(); ++to) {
                ASSERT_EQ(routes.to_other_slice(slice.point(to) - slice.point(from)),
                          kBetweenSlices)
                    << to_string(slice.lengths) << " from " << from << " to " << to;
            }
        }
    }
}

TEST(MachineRoutes, ToAndFromTheHostsMemory) {
    MachineRoutes routes(make_slice(find_chip("v5e"), {4, 4, 1}, false), {4, 2, 1});
    ASSERT_EQ(routes.to_host().size(), 1U);
    EXPECT_EQ(routes.to_host().front().kind, kPcieToHost);
    EXPECT_FALSE(routes.to_host().front().of_host);
    ASSERT_EQ(routes.from_host().size(), 1U);
    EXPECT_EQ(routes.from_host().front().kind, kPcieToChip);
    EXPECT_FALSE(routes.from_host().front().of_host);
}

// The chips of a host share its link to the network: a 2x4 slice of v5e is one rotated host.
TEST(MachineRoutes, ChipsThatShareALinkAreThoseOfAHost) {
    EXPECT_EQ(MachineRoutes::chips_sharing_links(make_slice(find_chip("v5p"), {4, 4, 8}, false),
                                                 {2, 2, 1}),
              (Point{2, 2, 1}));
    EXPECT_EQ(MachineRoutes::chips_sharing_links(make_slice(find_chip("v5e"), {2, 4, 1}, false),
                                                 {4, 2, 1}),
              (Point{2, 4, 1}));
    EXPECT_EQ(MachineRoutes::chips_sharing_links(make_slice(find_chip("v5e"), {16, 16, 1}, false),
                                                 {4, 2, 1}),
              (Point{4, 2, 1}));
    EXPECT_EQ(MachineRoutes::chips_sharing_links(make_slice(find_chip("v4p"), {1, 1, 1}, false),
                                                 {2, 2, 1}),
              (Point{1, 1, 1}));
}

}  // namespace
}  // namespace podsim::topology
