// Memories that may have to be shared, from the largest demands of links and work.
#include "sim/memory/at_risk.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "sim/folding/fold_by_mirrors.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

constexpr std::int64_t kOneAPs = 1'000'000'000'000;

// In a ring of four, 0 and 2 send to 3, and 1 and 3 to 0, in different directions; each message
// reads twice. Place 0 reads 2 and writes 1 for each of two links: 4 bytes a picosecond, as 3 does;
// 1 and 2 read 2. The mirror image is the same, and in the fold both links that lead to 0 use one
// port. A rate just above 3 makes the messages 4/3 as long in both cases.
TEST(AtRisk, CountsTheLinksThatLeadToAPlace) {
    Schedule schedule = schedule_of({{.role = 0, .distance = -1, .bytes = 900, .to_role = 3},
                                     {.role = 1, .distance = -1, .bytes = 900, .to_role = 0},
                                     {.role = 2, .distance = 1, .bytes = 900, .to_role = 3},
                                     {.role = 3, .distance = 1, .bytes = 900, .to_role = 0}},
                                    4, {0, 1, 2, 3});
    for (Transfer& transfer : schedule.transfers) {
        transfer.reads = 2;
    }
    Workload workload = workload_of(row_of(4, true, {1}), {schedule}, {operation(0)});
    const Mirror end{.place = {3, 2, 1, 0}, .port = {1, 0}};
    for (const std::int64_t rate : {3 * kOneAPs + 1, 4 * kOneAPs - 1, 4 * kOneAPs}) {
        SCOPED_TRACE(rate);
        workload.machine.memory_rate = rate;
        const auto folded = fold_by_mirrors(workload, std::vector{end});
        ASSERT_TRUE(folded);
        EXPECT_EQ(graphs_at_risk(workload).empty(), rate == 4 * kOneAPs);
        EXPECT_EQ(graphs_at_risk(folded->workload).empty(), rate == 4 * kOneAPs);
        EXPECT_EQ(execute(folded->workload).end, execute(workload).end);
    }
    workload.machine.memory_rate = 3 * kOneAPs + 1;
    EXPECT_EQ(execute(workload).end, Time{1351});
}

// A message reads at one place and writes at the other, a byte a picosecond each, beside work of
// one and of slightly more.
TEST(AtRisk, TellsGraphsApart) {
    Schedule schedule = schedule_of({{.role = 0, .distance = 1, .bytes = 900, .to_role = 1},
                                     {.role = 1, .distance = 0, .to_role = 1}},
                                    2, {0, 1});
    Workload workload = workload_of(row_of(2, false, {1}), {schedule}, {operation(0), work(100)});
    workload.graphs.push_back(workload.graphs[0]);
    workload.graph_of_place = {0, 1};
    workload.graphs[0].tasks[1].demand = kOneAPs;
    workload.graphs[1].tasks[1].demand = kOneAPs + 1;
    workload.machine.memory_rate = 2 * kOneAPs;
    EXPECT_EQ(graphs_at_risk(workload), (std::vector{false, true}));
    workload.machine.isolated_operations = true;
    EXPECT_EQ(graphs_at_risk(workload), (std::vector{true, true}));
    workload.machine.memory_rate = 0;
    EXPECT_TRUE(graphs_at_risk(workload).empty());
}

// One message of each of four schedules reads or writes the memory of place 0, over a separate
// link, a byte a picosecond: whichever exceeds the rate counts.
TEST(AtRisk, CountsEverySchedule) {
    const std::vector<Schedule> schedules{
        schedule_of({{.role = 0, .distance = 1, .bytes = 900, .to_role = 1}}, 4, {0, 1, 2, 3}),
        schedule_of({{.role = 0, .distance = -1, .bytes = 900, .to_role = 3}}, 4, {0, 1, 2, 3}),
        schedule_of({{.role = 1, .distance = -1, .bytes = 900, .to_role = 0}}, 4, {0, 1, 2, 3}),
        schedule_of({{.role = 3, .distance = 1, .bytes = 900, .to_role = 0}}, 4, {0, 1, 2, 3})};
    Workload workload = workload_of(row_of(4, true, {1}), schedules, {operation(0)});
    workload.operations.clear();
    for (std::uint32_t count = 1; count <= 4; ++count) {
        SCOPED_TRACE(count);
        workload.operations.push_back({.schedule = count - 1});
        workload.machine.memory_rate = count * kOneAPs;
        EXPECT_TRUE(graphs_at_risk(workload).empty());
        workload.machine.memory_rate = count * kOneAPs - 1;
        EXPECT_EQ(graphs_at_risk(workload), std::vector{true});
    }
}

}  // namespace
}  // namespace podsim::sim
