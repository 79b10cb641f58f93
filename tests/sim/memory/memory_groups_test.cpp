// Groups of places whose memories act as one, and the routes of their streams.
#include "sim/memory/memory_groups.h"

#include <gtest/gtest.h>
#include <map>
#include <utility>
#include <vector>

#include "sim/memory/stream_ways.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

StreamBegun work_begins(std::uint32_t task, std::int64_t demand) {
    return {.owner = {MemoryGroup::kWork, 0}, .task = task, .demand = demand, .end = Time{9}};
}

class MemoryGroupsTest : public ::testing::Test {
protected:
    static Workload six_places(std::vector<std::uint32_t> graph_of_place) {
        Workload workload = workload_of(row_of(6, true, {1}), {}, {});
        workload.machine.memory_rate = 10;
        workload.graph_of_place = std::move(graph_of_place);
        return workload;
    }
    /// Records the streams that begin, by group, and the new groups.
    void take() {
        begun_.clear();
        made_.clear();
        groups_.take_begun([&](std::uint32_t made) { made_.push_back(made); },
                           [&](std::uint32_t group, const StreamBegun& begun) {
                               begun_[group].push_back(begun.task);
                           });
    }
    [[nodiscard]] const std::vector<std::uint32_t>& places_with(std::uint32_t place) const {
        return groups_.of(place).places;
    }

    using Places = std::vector<std::uint32_t>;
    const Workload workload_ = six_places({0, 0, 0, 0, 1, 1});
    MemoryGroups groups_{workload_, {true, false}, true};
    std::map<std::uint32_t, std::vector<std::uint32_t>> begun_;
    std::vector<std::uint32_t> made_;
};

TEST_F(MemoryGroupsTest, AreTheGraphsAtFirst) {
    EXPECT_EQ(places_with(2), (Places{0, 1, 2, 3}));
    EXPECT_EQ(places_with(4), (Places{4, 5}));
    EXPECT_TRUE(groups_.of(0).at_risk);
    EXPECT_FALSE(groups_.of(5).at_risk);
    MemoryGroups apart(workload_, {true, false}, false);
    EXPECT_EQ(apart.of(2).places, (Places{2}));
    EXPECT_FALSE(apart.of(4).at_risk);
    EXPECT_TRUE(MemoryGroups(workload_, {}, true).empty());
}

TEST_F(MemoryGroupsTest, WhatBeginsAtAllBeginsOnce) {
    for (const std::uint32_t place : {3, 0, 2, 1}) {
        groups_.places_of(groups_.number_of(work_begins(7, 2))).push_back(place);
    }
    EXPECT_TRUE(groups_.any_begun());
    take();
    EXPECT_EQ(begun_, (std::map<std::uint32_t, std::vector<std::uint32_t>>{{0, {7}}}));
    EXPECT_TRUE(made_.empty());
    EXPECT_FALSE(groups_.any_begun());
}

// Place 2 has a further demand, place 1 none; places 0 and 3 have the same.
TEST_F(MemoryGroupsTest, FallApartWhereSomethingElseBegins) {
    groups_.of(0).bound = 5;
    groups_.places_of(groups_.number_of(work_begins(7, 2))).push_back(0);
    groups_.places_of(groups_.number_of(work_begins(7, 3))).push_back(2);
    groups_.places_of(groups_.number_of(work_begins(7, 2))).push_back(3);
    groups_.places_of(groups_.number_of(work_begins(7, 3))).push_back(5);  // ignored: not at risk
    take();
    EXPECT_EQ(places_with(0), (Places{0, 3}));
    EXPECT_EQ(places_with(1), (Places{1}));
    EXPECT_EQ(places_with(2), (Places{2}));
    EXPECT_EQ(places_with(5), (Places{4, 5}));
    EXPECT_EQ(made_, (std::vector<std::uint32_t>{2, 3}));
    EXPECT_EQ(begun_.size(), 2U);
    EXPECT_EQ(begun_[groups_.number_of(std::uint32_t{0})], (std::vector<std::uint32_t>{7}));
    EXPECT_EQ(begun_[groups_.number_of(std::uint32_t{2})], (std::vector<std::uint32_t>{7}));
    for (const std::uint32_t place : {0, 1, 2}) {
        EXPECT_EQ(groups_.of(place).bound, 5);
    }
    // From then on each place is separate.
    groups_.places_of(groups_.number_of(work_begins(8, 2))).push_back(1);
    take();
    EXPECT_EQ(begun_[groups_.number_of(std::uint32_t{1})], (std::vector<std::uint32_t>{8}));
    EXPECT_TRUE(made_.empty());
}

// Reads and writes of a message begin at sources that
// are listed once; the writes begin one place on.
TEST_F(MemoryGroupsTest, ListsLeadToOtherPlaces) {
    const std::vector<std::uint32_t> next{1, 2, 3, 4, 5, 0};
    const std::uint32_t read = groups_.number_of(work_begins(1, 2));
    const std::uint32_t written = groups_.number_of(work_begins(2, 2), next.data(), read);
    EXPECT_NE(read, written);
    EXPECT_EQ(groups_.number_of(work_begins(2, 2), next.data(), read), written);
    groups_.places_of(read).push_back(0);
    take();
    EXPECT_EQ(begun_[groups_.number_of(std::uint32_t{0})], (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(begun_[groups_.number_of(std::uint32_t{1})], (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(places_with(2), (Places{2, 3}));
}

TEST(StreamWaysTest, LeadBackFromTheDestination) {
    Machine machine = row_of(5, true, {1});
    ASSERT_TRUE(StreamWays::lead_back(machine));
    // Indexed [shift][place]: one to the right, two to the right.
    machine.shifts = {1, 2, 3, 4, 0, 2, 3, 4, 0, 1};
    StreamWays ways(machine);
    const std::uint32_t read = ways.number({.row = 10, .hop_shift = 0});
    EXPECT_EQ(ways.source(read, 3), 3U);
    EXPECT_EQ(ways.link(read, 3), 14U);
    const std::uint32_t written =
        ways.number({.writes = true, .row = 10, .hop_shift = 0, .to_shift = 1});
    EXPECT_EQ(ways.source(written, 3), 1U);
    EXPECT_EQ(ways.link(written, 3), 12U);
    EXPECT_EQ(ways.number({.row = 10, .hop_shift = 0}), read);
    machine.shifts[1] = 1;
    EXPECT_FALSE(StreamWays::lead_back(machine));
    machine.shifts[1] = kNoPlace;
    EXPECT_FALSE(StreamWays::lead_back(machine));
}

}  // namespace
}  // namespace podsim::sim
