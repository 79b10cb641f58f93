// A schedule built on one set of places and moved to another.
#include "collectives/catalogue/build_schedule.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <span>
#include <vector>

#include "tests/collectives/carriers/checks.h"

namespace podsim::collectives {
namespace {

/// Returns the destination of the displacement with the given number, for every place.
std::vector<std::uint32_t> leads(const ShiftTable& shifts, std::uint32_t number) {
    const auto places = static_cast<std::size_t>(shifts.places().size());
    const auto row = std::span(shifts.table()).subspan(number * places, places);
    return {row.begin(), row.end()};
}

void expect_same(const sim::Schedule& moved, const ShiftTable& shifts, const sim::Schedule& built,
                 const ShiftTable& built_with) {
    EXPECT_EQ(moved.role_of_place, built.role_of_place);
    EXPECT_EQ(moved.successors, built.successors);
    ASSERT_EQ(moved.hops.size(), built.hops.size());
    for (std::size_t i = 0; i < built.hops.size(); ++i) {
        EXPECT_EQ(moved.hops[i].port, built.hops[i].port);
        EXPECT_EQ(leads(shifts, moved.hops[i].shift), leads(built_with, built.hops[i].shift));
    }
    ASSERT_EQ(moved.transfers.size(), built.transfers.size());
    for (std::size_t i = 0; i < built.transfers.size(); ++i) {
        const sim::Transfer& one = moved.transfers[i];
        const sim::Transfer& other = built.transfers[i];
        EXPECT_EQ(one.hop_count, other.hop_count);
        EXPECT_EQ(one.rank, other.rank);
        EXPECT_EQ(one.bytes, other.bytes);
        if (one.hop_count > 0) {
            EXPECT_EQ(leads(shifts, one.destination_shift),
                      leads(built_with, other.destination_shift));
        }
    }
}

/// A schedule that is built on the fold of a slice and moved to all its places equals the one that
/// is built there, if all members have the same role.
TEST(BuildScheduleTest, IsTheSameOnOtherPlaces) {
    int moved_ones = 0;
    int others = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        Case c = random_case(random, 6, 24);
        c.v = std::min(c.v, sim::Bytes(1e6));
        SCOPED_TRACE(describe(c));
        ShiftTable on_fold(folded(c));
        const sim::Schedule of_fold = build_schedule(c.call(), c.options, on_fold).schedule;
        ShiftTable on_all(c.slice);
        on_all.number(topology::Point{0, 0, 1});  // so that numbers differ
        const std::optional<sim::Schedule> moved = on_places_of(on_all, of_fold, on_fold);
        EXPECT_EQ(moved.has_value(), of_fold.roles.size() == 1);
        if (!moved) {
            ++others;
            continue;
        }
        ++moved_ones;
        ShiftTable built_with(c.slice);
        expect_same(*moved, on_all, build_schedule(c.call(), c.options, built_with).schedule,
                    built_with);
    }
    EXPECT_GE(moved_ones, 20);
    EXPECT_GE(others, 20);
}

}  // namespace
}  // namespace podsim::collectives
