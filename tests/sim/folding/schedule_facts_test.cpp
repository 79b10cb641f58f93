// Facts of a schedule that mirrors need: the order of its transfers, and where they begin.
#include "sim/folding/schedule_facts.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <span>
#include <vector>

namespace podsim::sim {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers numbers(std::span<const std::uint32_t> some) {
    return {some.begin(), some.end()};
}

/// Transfers 0 and 1 begin at port 2, the first with a second link at port 1, transfer 2 at port 0;
/// 3 and 4 are joins, to which 2 leads. Ranks, in units of `unit`: 5, 3, 3, 0, 1.
Schedule five_transfers(std::uint64_t unit) {
    Schedule schedule;
    schedule.hops = {{.shift = 0, .port = 2},
                     {.shift = 1, .port = 1},
                     {.shift = 0, .port = 2},
                     {.shift = 0, .port = 0}};
    schedule.successors = {3, 4};
    schedule.transfers.resize(5);
    const std::vector<std::uint64_t> ranks{5, 3, 3, 0, 1};
    for (std::uint32_t i = 0; i < 5; ++i) {
        Transfer& transfer = schedule.transfers[i];
        transfer.rank = ranks[i] * unit;
        transfer.phase = i < 2 ? 1 : 0;
        transfer.first_hop = i == 0 ? 0 : i + 1;
        transfer.hop_count = i == 0 ? 2 : i < 3 ? 1 : 0;
    }
    schedule.transfers[0].phase_per_hop = 1;
    schedule.transfers[2].successor_count = 2;
    schedule.transfers[3].needs = 3;
    schedule.transfers[4].needs = 2;
    schedule.roles = {{.first_transfer = 0, .transfer_count = 5}};
    schedule.role_of_place = {0};
    return schedule;
}

// Ranks are counted or sorted; the first of equal ones comes first.
// If a schedule uses fewer ports and phases than the machine has,
// the schedule alone determines them, and nothing begins at others.
TEST(ScheduleFacts, ListTransfersInTheOrderOfTheirRanks) {
    for (const std::uint64_t unit : {std::uint64_t{1}, std::uint64_t{1} << 36U}) {
        SCOPED_TRACE(unit);
        const Schedule schedule = five_transfers(unit);
        const ScheduleFacts facts(schedule);
        EXPECT_EQ(facts.ports, 3U);
        EXPECT_EQ(facts.phases, 3U);
        EXPECT_EQ(facts.by_rank, (Numbers{3, 4, 1, 2, 0}));
        EXPECT_EQ(numbers(facts.begin_at(0, 1, 2)), (Numbers{1, 0}));
        EXPECT_EQ(numbers(facts.begin_at(0, 0, 0)), (Numbers{2}));
        EXPECT_TRUE(facts.begin_at(0, 0, 2).empty());
        EXPECT_TRUE(facts.begin_at(0, 0, 3).empty());
        EXPECT_TRUE(facts.begin_at(0, 2, 7).empty());
        EXPECT_EQ(numbers(facts.joins_of(0, 0)), (Numbers{4, 3}));
        EXPECT_EQ(facts.led_to_by[3], 2U);
        EXPECT_EQ(facts.led_to_by[0], ScheduleFacts::kNobody);
    }
}

// A turn encodes phase and port of a hop: the second hop of transfer 0 has phase 2.
TEST(ScheduleFacts, ListHopsInTheOrderOfRanks) {
    const ScheduleFacts facts(five_transfers(1));
    const std::vector<std::vector<std::uint64_t>> expected{
        {1, 2, 1 * 3 + 2, 3}, {2, 3, 0 * 3 + 0, 3}, {0, 0, 1 * 3 + 2, 5}, {0, 1, 2 * 3 + 1, 5}};
    ASSERT_EQ(facts.turns.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Turn& turn = facts.turns[i];
        EXPECT_EQ((std::vector<std::uint64_t>{turn.transfer, turn.hop, turn.at, turn.rank}),
                  expected[i])
            << i;
    }
}

}  // namespace
}  // namespace podsim::sim
