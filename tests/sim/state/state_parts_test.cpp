// The components of a run's state, each alone.
#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

#include "sim/state/event_codec.h"
#include "sim/state/message_pool.h"
#include "sim/state/run_state.h"
#include "sim/state/transfer_table.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

TEST(EventCodecTest, FieldsComeBack) {
    // With 5 operations, 1000 places, 257 transfers and
    // 70,000 tasks, 3 + 9 + 10 bits lie below the number.
    const EventCodec codec(5, 1000, 257, 70'000);
    EXPECT_EQ(codec.place_shift(), 3U + 9);
    EXPECT_EQ(EventCodec::number_shift(), 3U);
    const std::uint64_t what =
        codec.of(EventKind::transfer_arrived, {.number = 69'999, .place = 999, .transfer = 256});
    EXPECT_EQ(what, 69'999ULL << 22 | 999ULL << 12 | 256ULL << 3 | 2);
    EXPECT_EQ(EventCodec::kind(what), EventKind::transfer_arrived);
    EXPECT_EQ(codec.fields(what).number, 69'999U);
    EXPECT_EQ(codec.fields(what).place, 999U);
    EXPECT_EQ(codec.fields(what).transfer, 256U);
    const std::uint64_t server = EventCodec::of(EventKind::link_free, 0xffffffff);
    EXPECT_EQ(EventCodec::kind(server), EventKind::link_free);
    EXPECT_EQ(EventCodec::number(server), 0xffffffffU);
}

TEST(EventCodecTest, SixtyThreeBitsMustHoldAll) {
    // 20 bits each for transfers, places and operations fit in 63.
    EXPECT_NO_THROW(EventCodec(1 << 20, 1 << 20, 1 << 20, 1));
    EXPECT_NO_THROW(EventCodec(1, 1 << 20, 1 << 20, 1 << 20));
    EXPECT_THROW(EventCodec((1 << 20) + 1, 1 << 20, 1 << 20, 1), std::logic_error);
    EXPECT_THROW(EventCodec(1, 1 << 20, 1 << 20, (1 << 20) + 1), std::logic_error);
    EXPECT_THROW(EventCodec(1 << 20, (1 << 20) + 1, 1 << 20, 1), std::logic_error);
    EXPECT_THROW(EventCodec(1 << 20, 1 << 20, (1 << 20) + 1, 1), std::logic_error);
}

TEST(MessagesTest, NumbersAreUsedAgain) {
    Messages messages;
    for (std::uint32_t number = 0; number < 3; ++number) {
        EXPECT_EQ(messages.add({.tail_arrival = {}, .transfer = 5 + number}), number);
        messages.join(number);
        messages.join(number);
    }
    messages.leave(1);  // one source of two
    EXPECT_EQ(messages.add({.tail_arrival = {}, .transfer = 8}), 3U);
    messages.leave(1);
    std::vector<std::uint32_t> transfers;
    messages.for_each([&](Message& message) { transfers.push_back(message.transfer++); });
    EXPECT_EQ(transfers, (std::vector<std::uint32_t>{5, 7}));  // 1 has no source, 3 none yet
    EXPECT_EQ(messages[0].transfer, 6U);
    EXPECT_EQ(messages.add({.tail_arrival = {}, .transfer = 9}), 1U);
    EXPECT_EQ(messages[1].transfer, 9U);
    EXPECT_EQ(messages[1].sources, 0U);
    EXPECT_EQ(messages.add({.tail_arrival = {}, .transfer = 10}), 4U);
}

/// Work follows the previous work on its resource, and its
/// named predecessors; operations follow only the latter.
TEST(TaskOrderTest, CountsNeeds) {
    Workload workload =
        workload_of(row_of(2, true, {0}), {},
                    {work(1), work(1, 1), operation(0), work(1, 0, {1, 2}), work(1, 1)});
    workload.graphs.push_back({{work(1)}});
    workload.graph_of_place = {1, 0};
    const TaskOrder order(workload);
    EXPECT_EQ(order.initial_needs[0], (std::vector<std::uint32_t>{0, 0, 0, 3, 1}));
    const std::vector<std::vector<std::uint32_t>> successors{{3}, {3, 4}, {3}, {}, {}};
    for (std::uint32_t task = 0; task < successors.size(); ++task) {
        EXPECT_TRUE(std::ranges::equal(order.successors(0, task), successors[task])) << task;
    }
    EXPECT_TRUE(order.successors(1, 0).empty());
    EXPECT_EQ(order.initial_needs[1], (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(order.first_task, (std::vector<std::uint32_t>{0, 1, 6}));
}

/// Classes come first, then operations in program order, then
/// phases; phases are counted from the schedule's first.
TEST(PrioritiesTest, NumberClassOperationPhase) {
    const Schedule three =
        schedule_of({{.bytes = 1, .phase = 7}, {.bytes = 1, .phase = 9}}, 1, {0, 0});
    const Schedule one = schedule_of({{.bytes = 1, .phase = 4}}, 1, {0, 0});
    const RolesOfPlaces roles(three.role_of_place);
    const std::vector<TransferTable> tables{TransferTable(three, roles), TransferTable(one, roles)};
    const Priorities priorities({{.schedule = 0, .priority_class = 2},
                                 {.schedule = 1, .priority_class = 1},
                                 {.schedule = 0, .priority_class = 1},
                                 {.schedule = 1, .priority_class = 2}},
                                tables);
    EXPECT_EQ(priorities.first, (std::vector<std::uint32_t>{4, 0, 1, 7}));
    EXPECT_EQ(priorities.operation_of, (std::vector<std::uint32_t>{1, 2, 2, 2, 0, 0, 0, 3}));
}

/// Within a class the operation needed sooner goes first, whatever its number.
TEST(PrioritiesTest, WhatIsNeededSoonerGoesFirst) {
    const Schedule one = schedule_of({{.bytes = 1}}, 1, {0, 0});
    const std::vector<TransferTable> tables{TransferTable(one, RolesOfPlaces(one.role_of_place))};
    const Priorities priorities({{.schedule = 0, .priority_class = 1, .needed_by = 9},
                                 {.schedule = 0, .priority_class = 1, .needed_by = 4},
                                 {.schedule = 0, .priority_class = 0, .needed_by = 12},
                                 {.schedule = 0, .priority_class = 1, .needed_by = 9}},
                                tables);
    EXPECT_EQ(priorities.first, (std::vector<std::uint32_t>{2, 1, 0, 3}));
    EXPECT_EQ(priorities.operation_of, (std::vector<std::uint32_t>{2, 1, 0, 3}));
}

/// Later hops may have later phases, for which numbers are reserved.
TEST(PrioritiesTest, LaterHopsHaveTheirPhases) {
    Schedule schedule = schedule_of({{.distance = 3, .bytes = 1}}, 1, {0, 0});
    schedule.transfers[0].phase_per_hop = 2;
    const TransferTable table(schedule, RolesOfPlaces(schedule.role_of_place));
    EXPECT_EQ(table.phases, 1U + 3 * 2);
    EXPECT_EQ(table.hops_of_role, (std::vector<std::uint64_t>{3}));
}

/// Servers are ordered port by port; the machine's links place by place.
TEST(RunStateTest, ServersAndLinks) {
    Machine machine = row_of(3, true, {0});
    machine.links[machine.link(2, 1)].rate = BytesPerSecond(5);
    const Workload workload = workload_of(machine, {}, {work(1)});
    const RunState state(workload, nullptr);
    EXPECT_EQ(state.server_of(2, 1), 5U);
    EXPECT_EQ(state.server_of(1, 0), 1U);
    EXPECT_EQ(state.link_of(5), 5U);
    EXPECT_EQ(state.link_of(1), 2U);
    EXPECT_EQ(state.link_of(3 + 6), 1U);  // in a further set
    EXPECT_EQ(state.link_classes.size(), 2U);
    EXPECT_EQ(state.servers.link_class(5), 1U);
    EXPECT_EQ(state.servers.link_class(4), 0U);
    EXPECT_EQ(state.servers.port(4), 1U);
}

/// Three places run a task, and two of them use a placement: 2 and 1 hops by role.
TEST(RunStateTest, CountsTheEventsOfARun) {
    Workload workload;
    workload.machine = row_of(3, true, {0});
    workload.schedules = {schedule_of({{.role = 0, .distance = 2, .bytes = 1, .to_role = 1},
                                       {.role = 1, .bytes = 1, .to_role = 0}},
                                      2, {0, 0, 1})};
    workload.placements = {{0, 1, kAbsent}};
    workload.operations = {{.schedule = 0}, {.schedule = 0, .placement = 0}};
    workload.graphs = {{{operation(0), operation(1)}}, {{operation(0)}}};
    workload.graph_of_place = {0, 0, 1};
    const RunState state(workload, nullptr);
    EXPECT_EQ(state.hops_of(0), 2U + 2 + 1);
    EXPECT_EQ(state.hops_of(1), 2U + 1);
    EXPECT_EQ(state.all_events(), 5U + 5 + 3);
}

}  // namespace
}  // namespace podsim::sim
