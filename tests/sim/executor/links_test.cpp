// Links by hand algebra: 1 byte takes 1 ps unless a test states otherwise.
#include <gtest/gtest.h>
#include <vector>

#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

using Held = Recorder::Held;
using Seen = Recorder::Seen;

/// Place 0 sends to place 1.
Schedule from_zero(const std::vector<Send>& sends) {
    std::vector<Send> to_one = sends;
    for (Send& send : to_one) {
        send.to_role = 1;
    }
    return schedule_of(to_one, 2, {0, 1});
}

TEST(LinksTest, OneLinkServesInTurnAndLatencyAdds) {
    const Workload workload =
        workload_of(row_of(2, false, {70}),
                    {from_zero({{.bytes = 1000}, {.bytes = 500}, {.bytes = 200}})}, {operation(0)});
    Recorder seen;
    const ExecutionResult result = execute(workload, &seen);
    EXPECT_EQ(seen.held,
              (std::vector<Held>{{0, 0, 0, 1000}, {0, 0, 1000, 1500}, {0, 0, 1500, 1700}}));
    EXPECT_EQ(seen.arrived, (std::vector<Seen>{{1, 0, 1070}, {1, 1, 1570}, {1, 2, 1770}}));
    EXPECT_EQ(result.end, Time{1770});
    EXPECT_EQ(result.end_of_place, (std::vector<Time>{{0}, {1770}}));  // place 0 only sends
    EXPECT_EQ(result.links[0].busy, Time{1700});
    EXPECT_EQ(result.links[0].carried().value(), 1700);
    EXPECT_EQ(result.links[1].busy, Time{0});
    EXPECT_EQ(result.events, 5U);  // three hops, two tasks
}

TEST(LinksTest, DurationsRoundUpPerMessage) {
    // Two messages of 1.5 ps hold the link for 2 each.
    const Workload workload = workload_of(
        row_of(2, false, {0}), {from_zero({{.bytes = 1.5}, {.bytes = 1.5}})}, {operation(0)});
    EXPECT_EQ(execute(workload).end, Time{4});
}

/// An urgent message overtakes those that wait, but never the one on the link.
TEST(LinksTest, PriorityOvertakesOnlyBetweenMessages) {
    Workload workload =
        workload_of(row_of(2, false, {0}),
                    {from_zero({{.bytes = 1000}, {.bytes = 1000}}), from_zero({{.bytes = 10}})},
                    {operation(0), operation(1, {400})});
    workload.operations[0].priority_class = 1;
    Recorder seen;
    execute(workload, &seen);
    EXPECT_EQ(seen.held,
              (std::vector<Held>{{0, 0, 0, 1000}, {0, 1, 1000, 1010}, {0, 0, 1010, 2010}}));
    EXPECT_EQ(seen.fired.back(), (Seen{0, 0, 400}));
    // With the classes exchanged it waits for both.
    workload.operations[0].priority_class = 0;
    workload.operations[1].priority_class = 1;
    Recorder late;
    execute(workload, &late);
    EXPECT_EQ(late.held.back(), (Held{0, 1, 2000, 2010}));
}

TEST(LinksTest, EarlierPhasesGoFirstWithinAnOperation) {
    const Workload workload = workload_of(
        row_of(2, false, {0}), {from_zero({{.bytes = 100, .phase = 1}, {.bytes = 30, .phase = 0}})},
        {operation(0)});
    Recorder seen;
    execute(workload, &seen);
    EXPECT_EQ(seen.arrived, (std::vector<Seen>{{1, 1, 30}, {1, 0, 130}}));
}

/// Under `floor` a message arrives max(b/r, a) after the start of its step.
TEST(LinksTest, FloorLatency) {
    Machine machine = row_of(2, false, {5000});
    machine.rule = LatencyRule::floor;
    Recorder seen;
    // The second message starts 1000 late, but its step started at 0: 1000 + 5000 - 1000.
    execute(
        workload_of(machine, {from_zero({{.bytes = 1000}, {.bytes = 1000, .bytes_before = 1000}})},
                    {operation(0)}),
        &seen);
    EXPECT_EQ(seen.arrived, (std::vector<Seen>{{1, 0, 5000}, {1, 1, 5000}}));
    // If the bytes take longer than the latency, only they count.
    EXPECT_EQ(execute(workload_of(machine, {from_zero({{.bytes = 6000}})}, {operation(0)})).end,
              Time{6000});
}

/// Three links of 1, 2 and 1/2 B/ps with a = 100 are held [0, 1000], from 100 until the tail has
/// come at 1000 + 100, and from 200 for the message's own 2000; then + 100.
TEST(LinksTest, CutThrough) {
    Machine machine = row_of(4, false, {100});
    machine.links[2].rate = BytesPerSecond(2e12);
    machine.links[4].rate = BytesPerSecond(0.5e12);
    const std::vector<Send> one{{.role = 0, .distance = 3, .bytes = 1000, .to_role = 3}};
    Recorder seen;
    const ExecutionResult result =
        execute(workload_of(machine, {schedule_of(one, 4, {0, 1, 2, 3})}, {operation(0)}), &seen);
    EXPECT_EQ(seen.held,
              (std::vector<Held>{{0, 0, 0, 1000}, {2, 0, 100, 1100}, {4, 0, 200, 2200}}));
    EXPECT_EQ(result.end, Time{2300});

    // The second link is busy until 700: the head waits there, and the tail no longer matters.
    const std::vector<Send> two{{.role = 0, .distance = 3, .bytes = 1000, .to_role = 3},
                                {.role = 1, .distance = 1, .bytes = 1400, .to_role = 2}};
    Recorder blocked;
    execute(workload_of(machine, {schedule_of(two, 4, {0, 1, 2, 3})}, {operation(0)}), &blocked);
    EXPECT_EQ(
        blocked.held,
        (std::vector<Held>{{0, 0, 0, 1000}, {2, 0, 0, 700}, {2, 0, 700, 1200}, {4, 0, 800, 2800}}));
}

/// Under `floor` the links in between add no latency to the tail: it leaves each link no earlier
/// than the previous one.
TEST(LinksTest, CutThroughWithFloorLatency) {
    Machine machine = row_of(3, false, {100});
    machine.rule = LatencyRule::floor;
    machine.links[2].rate = BytesPerSecond(2e12);
    const std::vector<Send> one{{.role = 0, .distance = 2, .bytes = 1000, .to_role = 2}};
    Recorder seen;
    const ExecutionResult result =
        execute(workload_of(machine, {schedule_of(one, 3, {0, 1, 2})}, {operation(0)}), &seen);
    EXPECT_EQ(seen.held, (std::vector<Held>{{0, 0, 0, 1000}, {2, 0, 100, 1000}}));
    EXPECT_EQ(result.end, Time{1000});
}

/// The second place sends on only messages that have fully arrived. A join waits for two arrivals.
TEST(LinksTest, StoreAndForward) {
    const std::vector<Send> sends{{.role = 0, .bytes = 1000, .to_role = 1},
                                  {.role = 0, .bytes = 200, .to_role = 1},
                                  {.role = 1, .distance = 0, .after = {0, 1}, .to_role = 1},
                                  {.role = 1, .bytes = 500, .after = {0}, .to_role = 2},
                                  {.role = 1, .bytes = 1, .after = {2}, .to_role = 2}};
    Recorder seen;
    const ExecutionResult result = execute(
        workload_of(row_of(3, false, {70}), {schedule_of(sends, 3, {0, 1, 2})}, {operation(0)}),
        &seen);
    EXPECT_EQ(seen.fired, (std::vector<Seen>{{0, 0, 0}, {0, 1, 0}, {1, 3, 1070}, {1, 4, 1270}}));
    EXPECT_EQ(seen.held.back(), (Held{2, 0, 1570, 1571}));
    EXPECT_EQ(result.end, Time{1641});
}

TEST(LinksTest, IsolatedOperationsDoNotMeet) {
    Workload workload = workload_of(row_of(2, false, {0}),
                                    {from_zero({{.bytes = 1000}}), from_zero({{.bytes = 1000}})},
                                    {operation(0), operation(1)});
    EXPECT_EQ(execute(workload).end, Time{2000});
    workload.machine.isolated_operations = true;
    EXPECT_EQ(execute(workload).end, Time{1000});
}

}  // namespace
}  // namespace podsim::sim
