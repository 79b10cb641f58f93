// The list scheduler on graphs small enough to be ordered by hand. Times are in picoseconds. Every
// test gives the steps from the end of the order to its beginning, with `now` counted from the end.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/workloads/step_program_support.h"
#include "workloads/program/latency_hiding.h"

namespace podsim::workloads {
namespace {

using After = std::vector<std::uint32_t>;

ScheduleNode stream(std::int64_t time, After after = {}) {
    return {.time = {time}, .after = std::move(after)};
}
ScheduleNode flight(std::int64_t time, After after = {}, std::uint32_t kind = 0) {
    return {.time = {time}, .kind = kind, .after = std::move(after)};
}

/// Returns `0 +2 1 -2 3`: node 2 begins between 0 and 1 and ends between 1 and 3.
std::string order_of(const std::vector<ScheduleNode>& nodes,
                     const std::vector<int>& in_flight = {1, 1}) {
    std::string text;
    for (const ScheduleSlot& slot : list_schedule(nodes, in_flight)) {
        const bool flies = nodes[slot.node].kind != kOnStream;
        text += (text.empty() ? "" : " ") +
                std::string(slot.ends ? "-"
                            : flies   ? "+"
                                      : "") +
                std::to_string(slot.node);
    }
    return text;
}

// 4 is placed, now = 1. The end of 2 opens a window up to 1 + 5 = 6. 3 (now = 4) and 1 (now = 7)
// stall nothing, the start 2 and 1; then the start stalls nothing, and comes later than 0.
TEST(ListSchedule, EndsStandBeforeTheirFirstUserAndStartsAsLateAsCoversTheirTime) {
    EXPECT_EQ(order_of({stream(3), stream(3, {0}), flight(5), stream(3, {1}), stream(1, {2, 3})}),
              "0 +2 1 3 -2 4");
    // 3 and 1 alone cover 6 ps, but not 7 ps.
    EXPECT_EQ(order_of({stream(3), stream(3, {0}), flight(6), stream(3, {1}), stream(1, {2, 3})}),
              "0 +2 1 3 -2 4");
    EXPECT_EQ(order_of({stream(3), stream(3, {0}), flight(7), stream(3, {1}), stream(1, {2, 3})}),
              "+2 0 1 3 -2 4");
}

// Nothing fills the windows: two starts have 5 and 3 to wait for. The second is placed first, and
// the rest of the other's 5 is waited for after.
TEST(ListSchedule, WhatStallsLeastGoesFirst) {
    // 0 stalls nothing, the start of 2 would.
    EXPECT_EQ(order_of({stream(2), stream(3), flight(4, {1}), stream(1, {2})}), "1 +2 0 -2 3");
    EXPECT_EQ(order_of({flight(5, {}, 0), flight(3, {}, 1), stream(1, {0, 1})}), "+0 +1 -0 -1 2");
    EXPECT_EQ(order_of({flight(3, {}, 0), flight(5, {}, 1), stream(1, {0, 1})}), "+1 +0 -0 -1 2");
}

// The order is 4, the end of 1 (the later of two of one kind), 3 (now = 3); then start 1 and 2 both
// stall nothing. 2 comes later, but the end of 0 waits for room.
TEST(ListSchedule, AStartForWhoseRoomAnotherWaitsGoesFirst) {
    const std::vector<ScheduleNode> nodes{flight(2), flight(2), stream(2), stream(2),
                                          stream(1, {0, 1, 2, 3})};
    EXPECT_EQ(order_of(nodes), "+0 2 -0 +1 3 -1 4");
    // With room for both none waits: ends 1 and 0 at once, 3 and 2 beside both.
    EXPECT_EQ(order_of(nodes, {2}), "+0 +1 2 3 -0 -1 4");
}

// 3 comes first, then 1 or 2, which stall nothing: 1 reads
// the result of 0, whose window can then open, beside 2.
TEST(ListSchedule, WhatReadsAFlightGoesBeforeWhatDoesNot) {
    EXPECT_EQ(order_of({flight(2), stream(1, {0}), stream(2), stream(1, {1, 2})}), "+0 2 -0 1 3");
    EXPECT_EQ(order_of({stream(2), stream(1, {0}), stream(2), stream(1, {1, 2})}), "0 1 2 3");
}

// A gather that needs nothing runs into the previous iteration if it floats, or waits for its end.
TEST(ListSchedule, TurnsFollowEachOtherAndOnlyWhatFloatsCrossesThem) {
    std::vector<ScheduleNode> nodes{stream(4), flight(3), stream(2, {1})};
    nodes[1].turn = nodes[2].turn = 1;
    EXPECT_EQ(order_of(nodes), "0 +1 -1 2");
    nodes[1].floats = true;
    EXPECT_EQ(order_of(nodes), "+1 0 -1 2");
    // Work of its own iteration does not fill another's window.
    nodes.push_back(stream(9));
    nodes[3].turn = 2;
    EXPECT_EQ(order_of(nodes), "+1 0 -1 2 3");
}

TEST(ListSchedule, UnboundedFlightsDoNotWaitForEachOther) {
    EXPECT_EQ(order_of({flight(2, {}, kUnbounded), flight(2, {}, kUnbounded), stream(2),
                        stream(1, {0, 1, 2})}),
              "+0 +1 2 -0 -1 3");
}

// Every node appears once, behind its predecessors; no more
// are in flight than allowed; iterations are in order.
TEST(ListSchedule, RandomGraphsKeepEveryRule) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(seed);
        samples::Random random(seed);
        const std::vector<int> in_flight{random.from(1, 3), random.from(1, 2)};
        std::vector<ScheduleNode> nodes(static_cast<std::size_t>(random.from(1, 60)));
        std::uint32_t turn = 0;
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            turn += random.from(0, 7) == 0 ? 1 : 0;
            nodes[i] = {.time = {random.from(0, 9)},
                        .kind = random.coin()   ? kOnStream
                                : random.coin() ? static_cast<std::uint32_t>(random.from(0, 1))
                                                : kUnbounded,
                        .turn = turn};
            nodes[i].floats = nodes[i].kind != kOnStream && random.coin();
            for (int edge = random.from(0, 3); i > 0 && edge > 0; --edge) {
                nodes[i].after.push_back(
                    static_cast<std::uint32_t>(random.from(0, static_cast<int>(i) - 1)));
            }
            std::ranges::sort(nodes[i].after);
            const auto rest = std::ranges::unique(nodes[i].after);
            nodes[i].after.erase(rest.begin(), rest.end());
        }
        std::vector<int> begun(nodes.size());
        std::vector<int> ended(nodes.size());
        std::vector<int> flying(2);
        std::uint32_t at = 0;
        for (const ScheduleSlot& slot : list_schedule(nodes, in_flight)) {
            const ScheduleNode& node = nodes[slot.node];
            const bool flies = node.kind != kOnStream;
            if (slot.ends) {
                EXPECT_EQ(begun[slot.node], 1);
                EXPECT_EQ(ended[slot.node]++, 0);
                if (node.kind < 2) {
                    --flying[node.kind];
                }
                continue;
            }
            EXPECT_EQ(begun[slot.node]++, 0);
            ended[slot.node] = flies ? 0 : 1;
            for (const std::uint32_t before : node.after) {
                EXPECT_EQ(ended[before], 1) << before << " before " << slot.node;
            }
            if (node.kind < 2) {
                EXPECT_LE(++flying[node.kind], in_flight[node.kind]);
            }
            if (!node.floats) {
                EXPECT_GE(node.turn, at);
                at = node.turn;
            }
        }
        EXPECT_THAT(ended, ::testing::Each(1));
    }
}

}  // namespace
}  // namespace podsim::workloads
