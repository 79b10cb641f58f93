// Whole runs are the same, byte for byte, with waves and
// with an event for each hop: results and all observations.
#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "sim/executor/executor.h"
#include "sim/queue/event_queue.h"
#include "sim/state/event_per_hop.h"
#include "sim/state/waves.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

constexpr int kRingPlaces = 6;

/// Two operations of many sends and work on a ring of unequal links. With `memory`, every other
/// seed adds a memory that may be oversubscribed.
Workload random_workload(std::uint64_t seed, bool memory = false) {
    std::mt19937_64 random(seed);
    std::vector<Send> sends;
    for (std::uint32_t i = 0; i < 40; ++i) {
        Send send;
        send.distance = static_cast<int>(random() % 7) - 3;
        send.bytes = static_cast<double>(random() % 4) * 250;
        send.phase = static_cast<std::uint32_t>(random() % 3);
        for (std::uint32_t before = i < 8 ? i : i - 8; before < i; ++before) {
            if (random() % 5 == 0) {
                send.after.push_back(before);
            }
        }
        sends.push_back(send);
    }
    Machine machine = row_of(kRingPlaces, true, {static_cast<std::int64_t>(random() % 3) * 250});
    machine.rule = random() % 2 == 0 ? LatencyRule::additive : LatencyRule::floor;
    machine.isolated_operations = random() % 4 == 0;
    for (LinkSpec& link : machine.links) {
        link.rate = BytesPerSecond(1e12 / static_cast<double>(1 + random() % 3));
    }
    const Schedule schedule = schedule_of(sends, 1, std::vector<std::uint32_t>(kRingPlaces));
    Workload workload = workload_of(machine, {schedule, schedule},
                                    {operation(0), work(300), operation(1, {50}), work(20)});
    workload.operations[0].priority_class = 1;
    if (memory) {
        share_memory(workload, random);
    }
    return workload;
}

/// The order of reports within one instant is not guaranteed.
template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
    std::ranges::sort(rows);
    return rows;
}

TEST(QueuesTest, RunsAreEqual) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Workload workload = random_workload(seed, seed > 100);
        Recorder expected;
        const ExecutionResult result = play<Waves<RadixQueue>>(workload, &expected, true);
        EXPECT_GT(result.events, 200U);
        Recorder seen;
        ASSERT_EQ(play<EventPerHop<RadixQueue>>(workload, &seen, true), result);
        ASSERT_EQ(sorted(seen.held), sorted(expected.held));
        ASSERT_EQ(sorted(seen.fired), sorted(expected.fired));
        ASSERT_EQ(sorted(seen.arrived), sorted(expected.arrived));
        ASSERT_EQ(sorted(seen.began), sorted(expected.began));
        ASSERT_EQ(sorted(seen.ended), sorted(expected.ended));
    }
}

/// A hundred alike layers are played once: the pending events of either kind are moved.
TEST(QueuesTest, RepeatsAreSkipped) {
    Schedule schedule = schedule_of({{.distance = 2, .bytes = 400}, {.distance = -1, .bytes = 90}},
                                    1, std::vector<std::uint32_t>(kRingPlaces));
    Workload workload = workload_of(row_of(kRingPlaces, true, {30}), {schedule}, {});
    workload.operations.assign(100, {.schedule = 0, .priority_class = 0});
    TaskGraph& graph = workload.graphs[0];
    for (std::uint32_t layer = 0; layer < 100; ++layer) {
        const std::uint32_t first = 2 * layer;
        graph.marks.push_back(first);
        graph.tasks.push_back(work(100));
        graph.tasks.push_back(operation(layer));
        graph.tasks[first + 1].after = {first};
        if (layer > 0) {
            graph.tasks[first].after = {first - 1};
        }
    }
    const ExecutionResult whole = execute(workload, nullptr, false);
    for (const auto run : {play<Waves<RadixQueue>>, play<EventPerHop<RadixQueue>>}) {
        ExecutionResult skipped = run(workload, nullptr, true);
        EXPECT_LT(skipped.played_events, whole.events / 5);
        skipped.played_events = whole.played_events;
        EXPECT_EQ(skipped, whole);
    }
}

}  // namespace
}  // namespace podsim::sim
