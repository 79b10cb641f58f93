// Operations in which only some places take part, in roles that the operation assigns.
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

/// Returns a schedule that sends 1000 bytes from role 0 to role 1, one link forward.
Schedule handover() {
    return schedule_of({{.role = 0, .bytes = 1000, .to_role = 1}}, 2, {});
}

/// One schedule carries both sends. Place 0 works 100 and sends; the message takes 1000 + 100.
/// Place 1, whose receive has been open since 0, works 50 and sends; place 2 works 10. Senders do
/// not wait: their operation ends when it has started.
TEST(PlacementsTest, SendsOfOneScheduleFollowEachOther) {
    Workload workload;
    workload.machine = row_of(3, false, {100});
    workload.schedules = {handover()};
    workload.placements = {{0, 1, A}, {A, 0, 1}};
    workload.operations = {{.schedule = 0, .placement = 0}, {.schedule = 0, .placement = 1}};
    workload.graphs = {{{work(100), after(operation(0), {0}), work(3000)}},
                       {{operation(0), work(50, 0, {0}), after(operation(1), {1})}},
                       {{operation(1), work(10, 0, {0})}}};
    workload.graph_of_place = {0, 1, 2};
    Recorder seen;
    const ExecutionResult result = execute(workload, &seen);
    EXPECT_EQ(seen.held, (std::vector<Recorder::Held>{{0, 0, 100, 1100}, {2, 1, 1250, 2250}}));
    EXPECT_EQ(result.end_of_place, (std::vector<Time>{{3100}, {1250}, {2360}}));
}

/// A message that arrives before its receiver has started waits there.
TEST(PlacementsTest, EarlyMessagesWait) {
    Workload workload;
    workload.machine = row_of(2, false, {0});
    workload.schedules = {handover()};
    workload.placements = {{0, 1}};
    workload.operations = {{.schedule = 0, .placement = 0}};
    workload.graphs = {{{operation(0)}}, {{work(5000), after(operation(0), {0}), work(7, 0, {1})}}};
    workload.graph_of_place = {0, 1};
    EXPECT_EQ(execute(workload).end, Time{5007});
}

/// Pairs of a ring of 4 exchange 100 bytes and, when both messages of the other have come, 10 more.
/// The last transfer of either role has two predecessors, so it needs a counter at every place.
Schedule exchange() {
    std::vector<Send> sends;
    for (std::uint32_t role = 0; role < 2; ++role) {
        const int to_other = role == 0 ? 1 : -1;
        const std::uint32_t others = 3 * (1 - role);
        sends.push_back({.role = role, .distance = to_other, .bytes = 100, .to_role = 1 - role});
        sends.push_back({.role = role, .distance = to_other, .bytes = 100, .to_role = 1 - role});
        sends.push_back({.role = role,
                         .distance = to_other,
                         .bytes = 10,
                         .after = {others, others + 1},
                         .to_role = 1 - role});
    }
    return schedule_of(sends, 2, {0, 1, 0, 1});
}

/// Both pairs use the schedule, the second 500 later; each takes 200 + 10 as it would alone.
TEST(PlacementsTest, GroupsShareAScheduleAtTheirOwnTimes) {
    Workload workload;
    workload.machine = row_of(4, true, {0});
    workload.schedules = {exchange()};
    workload.placements = {{0, 1, A, A}, {A, A, 0, 1}};
    workload.operations = {{.schedule = 0, .placement = 0}, {.schedule = 0, .placement = 1}};
    workload.graphs = {{{operation(0)}}, {{work(500), after(operation(1), {0})}}};
    workload.graph_of_place = {0, 0, 1, 1};
    EXPECT_EQ(execute(workload).end_of_place, (std::vector<Time>{{210}, {210}, {710}, {710}}));
}

TEST(PlacementsTest, AnAbsentPlaceHasNoTask) {
    Workload workload;
    workload.machine = row_of(3, false, {0});
    workload.schedules = {handover()};
    workload.placements = {{0, 1, A}};
    workload.operations = {{.schedule = 0, .placement = 0}};
    workload.graphs = {{{operation(0)}}};
    workload.graph_of_place = {0, 0, 0};
    EXPECT_THROW(execute(workload), std::logic_error);
}

/// Three places have role 0, but the schedule has counters for two.
TEST(PlacementsTest, PlacementsWithoutCountersAreRefused) {
    Workload workload;
    workload.machine = row_of(4, true, {0});
    workload.schedules = {exchange()};
    workload.placements = {{0, 0, 0, 1}};
    workload.operations = {{.schedule = 0, .placement = 0}};
    workload.graphs = {{{operation(0)}}};
    workload.graph_of_place = {0, 0, 0, 0};
    EXPECT_THROW(execute(workload), std::logic_error);
}

}  // namespace
}  // namespace podsim::sim
