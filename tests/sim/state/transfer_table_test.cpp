// Schedules in the form that runs read.
#include "sim/state/transfer_table.h"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "sim/state/known_tables.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

/// Counters take a byte a place for 255 predecessors,
/// four for 256; rows begin at multiples of four.
TEST(TransferTableTest, CountersAreAsWideAsNeeded) {
    std::vector<Send> sends(256, {.bytes = 1});
    std::vector<std::uint32_t> all(256);
    for (std::uint32_t i = 0; i < 256; ++i) {
        all[i] = i;
    }
    sends.push_back({.bytes = 1, .after = {all.begin(), all.begin() + 255}});
    sends.push_back({.bytes = 1, .after = all});
    const Schedule schedule = schedule_of(sends, 1, {0, 0, 0});
    const RolesOfPlaces roles(schedule.role_of_place);
    const TransferTable table(schedule, roles);
    EXPECT_EQ(table.counters(), (std::vector<std::uint8_t>{255, 255, 255, 0,  //
                                                           0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}));
    ASSERT_EQ(table.paths[0].edge_count, 2U);
    EXPECT_EQ(table.edges[0].counter, 2U * 0);
    EXPECT_EQ(table.edges[1].counter, 2U * 4 + 1);
    // All transfers begin at one link: the first goes
    // there, each other when the previous one has gone.
    ASSERT_EQ(table.roots_of(0).size(), 1U);
    EXPECT_EQ(table.roots_of(0)[0].transfer, 0U);
    EXPECT_EQ(table.behind[0], 1U);
    EXPECT_EQ(table.behind[254], 255U);
    EXPECT_FALSE(table.has_behind(255));
    EXPECT_FALSE(table.has_behind(256));
    // In a run of it the first takes 256 picoseconds, then each takes one.
    EXPECT_EQ(execute(workload_of(row_of(3, true, {0}), {schedule}, {operation(0)})).end,
              Time{258});
}

/// A transfer with a single predecessor fires on its arrival, without a counter; one without
/// predecessors waits for the start.
TEST(TransferTableTest, OnePredecessorNeedsNoCounter) {
    const Schedule schedule = schedule_of({{.bytes = 1}, {.bytes = 1, .after = {0}}}, 1, {0, 0, 0});
    const RolesOfPlaces roles(schedule.role_of_place);
    const TransferTable table(schedule, roles);
    EXPECT_TRUE(table.counters().empty());
    ASSERT_EQ(table.edges.size(), 1U);
    EXPECT_EQ(table.edges[0].counter, Edge::kFires);
    EXPECT_EQ(table.edges[0].next.transfer, 1U);
    ASSERT_EQ(table.roots_of(0).size(), 1U);
    EXPECT_EQ(table.roots_of(0)[0].transfer, 0U);
    // Without counters any number of places may take part, in the schedule's roles.
    const std::vector<std::uint32_t> many{0, 0, 0, 0, 0};
    EXPECT_TRUE(table.holds(RolesOfPlaces(many)));
    const std::vector<std::uint32_t> unknown{0, 1};
    EXPECT_FALSE(table.holds(RolesOfPlaces(unknown)));
}

/// Counters for two places serve up to two, at any position.
TEST(TransferTableTest, CountersServeAsManyPlacesAsTheScheduleHas) {
    const Schedule schedule =
        schedule_of({{.bytes = 1}, {.bytes = 1}, {.bytes = 1, .after = {0, 1}}}, 1, {0, 0});
    const TransferTable table(schedule, RolesOfPlaces(schedule.role_of_place));
    const std::vector<std::uint32_t> two{kAbsent, 0, kAbsent, 0};
    EXPECT_TRUE(table.holds(RolesOfPlaces(two)));
    const std::vector<std::uint32_t> three{0, 0, 0};
    EXPECT_FALSE(table.holds(RolesOfPlaces(three)));
}

TEST(RolesOfPlacesTest, CountsWithinRoles) {
    const std::vector<std::uint32_t> given{1, kAbsent, 0, 1, 1};
    const RolesOfPlaces roles(given);
    EXPECT_EQ(roles.index_in_role, (std::vector<std::uint32_t>{0, kAbsent, 0, 1, 2}));
    EXPECT_EQ(roles.places_of_role, (std::vector<std::uint32_t>{1, 3}));
    EXPECT_EQ(roles.present, 4U);
}

/// A cached table is as it was built, whatever a run changes in its copy; an evicted schedule's
/// table is built again.
TEST(KnownTablesTest, AreThoseOfTheScheduleAlone) {
    const auto schedule_of = [](std::uint32_t transfers) {
        Schedule schedule;
        schedule.roles = {{.first_transfer = 0, .transfer_count = transfers, .arrivals = 0}};
        schedule.role_of_place = {0, 0};
        schedule.transfers.resize(transfers,
                                  Transfer{.needs = 3, .bytes = Bytes(8), .bytes_before = {}});
        return std::make_shared<const Schedule>(std::move(schedule));
    };
    KnownTables known;
    const auto first = schedule_of(3);
    const RolesOfPlaces roles(first->role_of_place);
    const TransferTable alone(*first, roles);
    for (int run = 0; run < 4; ++run) {
        TransferTable of_run = known.of(first, roles);
        EXPECT_EQ(of_run.counters(), alone.counters());
        ASSERT_EQ(of_run.paths.size(), 3U);
        EXPECT_EQ(of_run.paths[1].hold, Time{});
        of_run.paths[1].hold = Time{5};
    }
    const long kept = first.use_count();
    const auto large = schedule_of(1U << 16);
    EXPECT_EQ(known.of(large, roles).paths.size(), std::size_t{1} << 16);
    EXPECT_EQ(first.use_count(), kept - 1) << "one of them had to go";
    EXPECT_EQ(large.use_count(), 2);
    EXPECT_EQ(known.of(first, roles).counters(), alone.counters());
    // A larger table is not cached.
    const auto larger = schedule_of((1U << 16) + 1);
    EXPECT_EQ(known.of(larger, roles).paths.size(), (std::size_t{1} << 16) + 1);
    EXPECT_EQ(larger.use_count(), 1);
}

}  // namespace
}  // namespace podsim::sim
