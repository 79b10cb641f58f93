// Places, links and operations that belong to one graph alone.
#include <gtest/gtest.h>
#include <vector>

#include "sim/folding/components.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

/// Places 0 and 1 (graph 0) send over the link from 0 to 1 in operations 0
/// and 2. Place 2 (graph 1) sends to place 3, also of graph 1, in operation
/// 1, and to place 1 in operation 3, in which both graphs take part.
Workload two_graphs() {
    Workload workload;
    workload.machine = row_of(4, false, {0});
    workload.schedules = {
        schedule_of({{.role = 0, .bytes = 60, .to_role = 1}}, 2, {}),
        schedule_of({{.role = 0, .distance = -1, .bytes = 60, .to_role = 1}}, 2, {})};
    workload.placements = {{0, 1, A, A}, {A, A, 0, 1}, {A, 1, 0, A}};
    workload.operations = {{.schedule = 0, .placement = 0},
                           {.schedule = 0, .placement = 1},
                           {.schedule = 0, .placement = 0},
                           {.schedule = 1, .placement = 2}};
    workload.graphs.resize(2);
    workload.graphs[0] = {{operation(0), work(5), operation(3), operation(2), work(6)}, {0, 3}};
    workload.graphs[1] = {{operation(1), operation(3)}, {0}};
    workload.graph_of_place = {0, 0, 1, 1};
    return workload;
}

TEST(ComponentPartsTest, AreFoundByGraph) {
    const Workload workload = two_graphs();
    const RunState state(workload, nullptr);
    const Components components(state);
    ASSERT_EQ(components.size(), 2U);
    EXPECT_TRUE(components.any_marks());
    const Component& first = components[0];
    EXPECT_EQ(first.places, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(first.operations, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(first.operations_before, (std::vector<std::uint32_t>{0, 1, 1, 1, 2}));
    EXPECT_EQ(first.shared_tasks, (std::vector<std::uint32_t>{2}));
    // The link is port 0 of place 0; servers are numbered port by port.
    EXPECT_EQ(first.links, (std::vector<std::uint32_t>{state.server_of(0, 0)}));
    EXPECT_TRUE(first.apart);
    EXPECT_EQ(first.is_mark, (std::vector<bool>{true, false, false, true, false}));
    const Component& second = components[1];
    EXPECT_EQ(second.places, (std::vector<std::uint32_t>{2, 3}));
    EXPECT_EQ(second.operations, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(second.links, (std::vector<std::uint32_t>{state.server_of(2, 0)}));
}

TEST(ComponentPartsTest, NumberOperations) {
    const Workload workload = two_graphs();
    const RunState state(workload, nullptr);
    const Components components(state);
    EXPECT_EQ(components.owner_of_operation(1), 1U);
    EXPECT_EQ(components.owner_of_operation(2), 0U);
    EXPECT_EQ(components.owner_of_operation(3), Components::kShared);
    EXPECT_EQ(components.image(0, 1), 2U);
    EXPECT_EQ(components.image(0, 0), 0U);
    // At mark 3 one operation has passed.
    EXPECT_EQ(components.relative_number(0, 3), -1);
    EXPECT_EQ(components.relative_number(2, 3), 0);
    EXPECT_EQ(components.relative_number(2, 0), 1);
}

TEST(ComponentPartsTest, EventsHaveOwners) {
    const Workload workload = two_graphs();
    RunState state(workload, nullptr);
    const Components components(state);
    const auto owner = [&](EventKind kind, std::uint32_t number, std::uint32_t place) {
        return components.owner_of(
            {Time{}, state.codec.of(kind, {.number = number, .place = place, .transfer = 0})});
    };
    EXPECT_EQ(owner(EventKind::task_ended, 1, 1), 0U);
    EXPECT_EQ(owner(EventKind::operation_launched, 0, 3), 1U);
    EXPECT_EQ(owner(EventKind::operation_launched, 2, 1), Components::kShared);
    EXPECT_EQ(owner(EventKind::operation_launched, 1, 2), Components::kShared);
    EXPECT_EQ(owner(EventKind::transfer_arrived, 1, 2), 1U);
    EXPECT_EQ(owner(EventKind::transfer_arrived, 3, 2), Components::kShared);
    const auto link_owner = [&](std::uint32_t place, std::uint32_t port) {
        return components.owner_of(
            {Time{}, EventCodec::of(EventKind::link_free, state.server_of(place, port))});
    };
    EXPECT_EQ(link_owner(0, 0), 0U);
    EXPECT_EQ(link_owner(2, 0), 1U);
    EXPECT_EQ(link_owner(2, 1), Components::kShared);
    EXPECT_GE(link_owner(3, 1), 2U);  // unowned
    state.messages.add({.tail_arrival = {}, .operation = 0});
    const std::uint32_t message = state.messages.add({.tail_arrival = {}, .operation = 1});
    EXPECT_EQ(components.owner_of({Time{}, EventCodec::of(EventKind::head_arrived, message)}), 1U);
}

/// Operation 1 uses the link of the other graph: both graphs lose their marks.
TEST(ComponentPartsTest, ASharedLinkLeavesNobodyApart) {
    Workload workload = two_graphs();
    workload.placements[1] = {0, A, 1, A};
    const RunState state(workload, nullptr);
    const Components components(state);
    EXPECT_FALSE(components[0].apart);
    EXPECT_FALSE(components[1].apart);
    EXPECT_FALSE(components.any_marks());
}

TEST(ComponentPartsTest, OperationsMustFollowTheirTasks) {
    Workload workload = two_graphs();
    std::swap(workload.graphs[0].tasks[0].operation, workload.graphs[0].tasks[3].operation);
    const RunState state(workload, nullptr);
    const Components components(state);
    EXPECT_TRUE(components[0].is_mark.empty());
    EXPECT_FALSE(components[1].is_mark.empty());
}

/// Isolated operations have a set of links each while they are open; the set is then reused.
TEST(ComponentPartsTest, IsolatedOperationsOwnTheirSets) {
    Workload workload = two_graphs();
    workload.machine.isolated_operations = true;
    RunState state(workload, nullptr);
    const Components components(state);
    state.open(1);
    state.open(2);
    EXPECT_EQ(state.operations[1].first_server, 8U);
    EXPECT_EQ(state.operations[2].first_server, 16U);
    EXPECT_EQ(components.first_servers_in_use(0), (std::vector<std::uint32_t>{16}));
    EXPECT_EQ(components.first_servers_in_use(1), (std::vector<std::uint32_t>{8}));
    const auto owner = [&](std::uint32_t server) {
        return components.owner_of({Time{}, EventCodec::of(EventKind::link_free, server)});
    };
    EXPECT_EQ(owner(8 + 3), 1U);
    EXPECT_EQ(owner(16), 0U);
    state.close(state.operations[1]);
    EXPECT_EQ(owner(8), 1U);  // it used the set last
    state.open(0);
    EXPECT_EQ(state.operations[0].first_server, 8U);
    EXPECT_EQ(owner(8), 0U);
    EXPECT_EQ(components.first_servers_in_use(0), (std::vector<std::uint32_t>{8, 16}));
    EXPECT_EQ(components.open_operations(0), (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(components.open_operations(1), std::vector<std::uint32_t>{});
    EXPECT_EQ(state.open_operations, (std::set<std::uint32_t>{0, 2}));
}

}  // namespace
}  // namespace podsim::sim
