// Displacements by number, and their destinations.
#include "collectives/paths/shift_table.h"

#include <gtest/gtest.h>

#include "collectives/paths/ports.h"
#include "sim/workload/machine.h"
#include "tests/topology/lattice_support.h"

namespace podsim::collectives {
namespace {

using topology::box;

constexpr std::uint32_t kNone = sim::kNoPlace;

TEST(ShiftTableTest, NumbersDisplacementsAsTheyAreUsed) {
    ShiftTable shifts(box({4, 1, 1}, 0));
    EXPECT_EQ(shifts.number(topology::Point{1, 0, 0}), 0U);
    EXPECT_EQ(shifts.number(topology::Point{-1, 0, 0}), 1U);
    EXPECT_EQ(shifts.number(topology::Point{1, 0, 0}), 0U);
    EXPECT_EQ(shifts.table(), (std::vector<std::uint32_t>{1, 2, 3, kNone, kNone, 0, 1, 2}));
    EXPECT_FALSE(shifts.uses_hosts());
    // The same chips in another slice, or the host, are separate displacements.
    EXPECT_EQ(shifts.number(Shift{.chips = {1, 0, 0}, .slices = {1, 2}, .ranks = 1}), 2U);
    EXPECT_EQ(shifts.number(Shift{.chips = {1, 0, 0}, .slices = {2, 2}, .ranks = 1}), 3U);
    EXPECT_EQ(shifts.number(Shift{.chips = {1, 0, 0}, .to_host = true}), 4U);
}

TEST(ShiftTableTest, NumbersWhatAnotherHas) {
    ShiftTable other(box({4, 1, 1}, 0));
    other.number(topology::Point{1, 0, 0});
    other.number(Shift{.chips = {1, 0, 0}, .slices = {1, 2}, .ranks = 1});
    other.number(Shift{.chips = {1, 0, 0}, .to_host = true});
    ShiftTable shifts(box({2, 1, 1}, 1));
    const std::uint32_t host = shifts.number(Shift{.chips = {1, 0, 0}, .to_host = true});
    const std::vector<std::uint32_t> numbers = shifts.numbers_of(other);
    ASSERT_EQ(numbers.size(), 3U);
    EXPECT_EQ(numbers[0], shifts.number(topology::Point{1, 0, 0}));
    EXPECT_EQ(numbers[1], shifts.number(Shift{.chips = {1, 0, 0}, .slices = {1, 2}, .ranks = 1}));
    EXPECT_EQ(numbers[2], host);
    EXPECT_EQ(shifts.table().size(), 3U * 2U);
}

TEST(ShiftTableTest, LeadsToOtherSlicesAndHosts) {
    // Two slices of 3 chips have hosts of 2, and a smaller last host.
    ShiftTable shifts(topology::Places(box({3, 1, 1}, 0), 2), {2, 1, 1});
    shifts.number(Shift{.slices = {1, 2}, .ranks = 1});
    shifts.number(Shift{.to_host = true});
    EXPECT_EQ(shifts.table(), (std::vector<std::uint32_t>{3, 4, 5, 0, 1, 2, 0, 0, 2, 3, 3, 5}));
    // A fold keeps one slice for all.
    ShiftTable folded(box({3, 1, 1}, 0));
    folded.number(Shift{.slices = {1, 2}, .ranks = 1});
    EXPECT_EQ(folded.table(), (std::vector<std::uint32_t>{0, 1, 2}));
}

/// Chips of whole hosts are numbered row by row; those of a
/// smaller last host continue after the numbers of the box.
TEST(ShiftTableTest, IndexInHost) {
    using Indices = std::vector<std::uint8_t>;
    EXPECT_EQ(ShiftTable(box({4, 2, 1}, 3), {2, 2, 1}).index_in_host(),
              (Indices{0, 1, 2, 3, 0, 1, 2, 3}));
    EXPECT_EQ(ShiftTable(box({3, 1, 1}, 1), {2, 1, 1}).index_in_host(), (Indices{0, 1, 2}));
    EXPECT_EQ(ShiftTable(box({1, 3, 2}, 7), {1, 2, 2}).index_in_host(),
              (Indices{0, 1, 2, 3, 4, 5}));
}

TEST(ShiftTableTest, RoutesOverTheHostsLinksUseHosts) {
    ShiftTable shifts(box({2, 1, 1}, 0));
    shifts.number(topology::Point{1, 0, 0});
    EXPECT_FALSE(shifts.uses_hosts());
    std::vector<sim::Hop> hops;
    EXPECT_EQ(shifts.add_host_route(HostDirection::to_host, hops), 1U);
    EXPECT_EQ(hops.back().port, kPcieToHost);
    EXPECT_TRUE(shifts.uses_hosts());
}

/// The route leads to the chip one further along x in the
/// other slice: up to the host, out, in there, and down.
TEST(ShiftTableTest, HopsBetweenSlices) {
    ShiftTable shifts(topology::Places(box({2, 1, 1}, 0), 2), {2, 1, 1});
    std::vector<sim::Hop> hops;
    EXPECT_EQ(shifts.links_between_slices(), 4);
    EXPECT_EQ(shifts.add_route({.chips = {1, 0, 0}, .slices = {1, 2}, .ranks = 1}, hops), 4U);
    ASSERT_EQ(hops.size(), 4U);
    const std::size_t places = 4;
    const auto lands = [&](std::size_t hop) {  // from the first place
        return shifts.table()[hops[hop].shift * places];
    };
    EXPECT_EQ(hops[0].port, kPcieToHost);
    EXPECT_EQ(lands(0), 0U);
    EXPECT_EQ(hops[1].port, kDcnOut);
    EXPECT_EQ(lands(1), 0U);
    EXPECT_EQ(hops[2].port, kDcnIn);
    EXPECT_EQ(lands(2), 2U);  // the host of the other slice
    EXPECT_EQ(hops[3].port, kPcieToChip);
    EXPECT_EQ(lands(3), 3U);
}

}  // namespace
}  // namespace podsim::collectives
