// Reach of repeats towards layers that differ from those before, counted by hand, and the lifetime
// of remembered states.
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "tests/sim/folding/skipped_runs.h"

namespace podsim::sim {
namespace {

/// Ten layers have A and B of 100, one after the other, and beside them G of 50, which the next
/// layer's A needs, from the end of the layer before on. The last layer has no G, so that the
/// numbers after it are one less. C follows.
///   G0 = 0, layer k < 9: G(k+1) = 3k + 1, A = 3k + 2, B = 3k + 3; A9 = 28, B9 = 29, C = 30
/// The marks are the As.
Workload layers_with_one_task_less_at_the_end(int places = 2) {
    constexpr std::uint32_t kLayers = 10;
    Workload workload = workload_of(row_of(places, false, {0}), {}, {});
    std::vector<Task>& tasks = workload.graphs[0].tasks;
    tasks.push_back(work(50, 1));
    std::uint32_t gathered = 0;
    std::vector<std::uint32_t> before;
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
        std::vector<std::uint32_t> needs = before;
        needs.push_back(gathered);
        if (layer + 1 < kLayers) {
            gathered = static_cast<std::uint32_t>(tasks.size());
            tasks.push_back(work(50, 1, before));
        }
        workload.graphs[0].marks.push_back(static_cast<std::uint32_t>(tasks.size()));
        tasks.push_back(work(100, 0, needs));
        before = {static_cast<std::uint32_t>(tasks.size())};
        tasks.push_back(work(100, 0, {before[0] - 1}));
    }
    tasks.push_back(work(30, 0, before));
    return workload;
}

// When A1 has ended (350) the state is that at the end of A0 (150): B runs, the next G has ended,
// the one after it waits for B. The image of A1 may be any A up to A8: there B8 runs and G9 has
// ended. A9 has the number that a G10 would have, but waits for B8 just as that would. Seven
// repeats of three tasks are skipped at two places, of 2 x 31.
TEST(LastLayersTest, WhatHasNotBegunMayBeAnotherTask) {
    EXPECT_EQ(played_of_the_same(layers_with_one_task_less_at_the_end()), 2 * (31U - 7 * 3));
}

// A picosecond before B1 ends (449) the state is that before the end of B0: the next A and G wait
// for it. They also wait before the end of B8, with or without a G10: seven repeats. When B1 has
// ended (450) they have begun. The last G to begin so is G9, behind B7: six.
TEST(LastLayersTest, BeforeItEndsNothingWaitsForALayerNoLonger) {
    Workload before = layers_with_one_task_less_at_the_end();
    Workload after = before;
    before.graphs[0].marks = {0};
    after.graphs[0].marks.clear();
    for (std::uint32_t layer = 0; layer < 9; ++layer) {
        before.graphs[0].early_marks.push_back(3 * layer + 3);
        after.graphs[0].marks.push_back(3 * layer + 3);
    }
    EXPECT_EQ(played_of_the_same(before), 2 * (31U - 7 * 3));
    EXPECT_EQ(played_of_the_same(after), 2 * (31U - 6 * 3));
}

// D follows only G9 and so would begin before A8 ends: six
// repeats, to A7. At the end of A8 G8, G9 and D have ended.
TEST(LastLayersTest, NothingElseMayBegin) {
    Workload workload = layers_with_one_task_less_at_the_end();
    workload.graphs[0].tasks.push_back(work(10, 2, {25}));
    EXPECT_EQ(played_of_the_same(workload), 2 * (32U - 6 * 3));
}

// If D also needs B8, which runs at the end of A8:
// seven repeats. If it needs A8, which has ended: six.
TEST(LastLayersTest, WhatWaitsForATaskThatRunsMayFollowOneThatEnds) {
    Workload waits = layers_with_one_task_less_at_the_end();
    waits.graphs[0].tasks.push_back(work(10, 2, {25, 27}));
    EXPECT_EQ(played_of_the_same(waits), 2 * (32U - 7 * 3));
    Workload begins = layers_with_one_task_less_at_the_end();
    begins.graphs[0].tasks.push_back(work(10, 2, {25, 26}));
    EXPECT_EQ(played_of_the_same(begins), 2 * (32U - 6 * 3));
}

// A task that waits for its resource also waits: A9 on
// a free resource begins early, on that of B8 it waits.
TEST(LastLayersTest, WhatWaitsForItsResourceWaits) {
    Workload free = layers_with_one_task_less_at_the_end();
    free.graphs[0].tasks[28].resource = 2;  // A9
    free.graphs[0].tasks[28].after = {25};
    EXPECT_EQ(played_of_the_same(free), 2 * (31U - 6 * 3));
    Workload busy = layers_with_one_task_less_at_the_end();
    busy.graphs[0].tasks[28].after = {25};
    EXPECT_EQ(played_of_the_same(busy), 2 * (31U - 7 * 3));
}

// Twelve layers have W (100) and operations S (a message each), Z (150 until it is launched) and
// Y, which follows the Z before:
//   Y = 4k, W = 4k + 1, S = 4k + 2, Z = 4k + 3
// When W2 has ended (300) the state is that of 200: S and Z of its layer are open, the next W and
// the Z before run, and Y waits for that Z. The image may be any W up to W10, since W11 runs then.
// One layer's Y may be work in place of an operation, which does not matter as long as it waits.
// But the distances of S and Z of that layer then differ between operations and tasks.
TEST(LastLayersTest, OperationsMustBeAsManyOn) {
    constexpr std::uint32_t kLayers = 12;
    const auto repeats = [](std::uint32_t work_instead) {
        const std::vector<std::uint32_t> one_role(2);
        Workload workload = workload_of(
            row_of(2, true, {0}),
            {schedule_of({{.bytes = 50}}, 1, one_role), schedule_of({}, 1, one_role)}, {});
        workload.operations.clear();
        std::vector<Task>& tasks = workload.graphs[0].tasks;
        const auto add_operation = [&](std::uint32_t schedule, std::int64_t launch) {
            workload.operations.push_back({.schedule = schedule, .priority_class = 0});
            tasks.push_back(
                operation(static_cast<std::uint32_t>(workload.operations.size() - 1), {launch}));
        };
        for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
            const std::uint32_t first = 4 * layer;
            if (layer == work_instead) {
                tasks.push_back(work(1, 1));
            } else {
                add_operation(1, 1);
            }
            if (layer > 0) {
                tasks[first].after = {first - 1};
            }
            workload.graphs[0].marks.push_back(first + 1);
            tasks.push_back(work(100, 0));
            add_operation(0, 10);
            add_operation(1, 150);
            tasks[first + 2].after = tasks[first + 3].after = {first + 1};
        }
        // Each layer has four tasks and a hop at each of two places.
        const std::uint64_t skipped = std::uint64_t{kLayers} * 10 - played_of_the_same(workload);
        EXPECT_EQ(skipped % 10, 0U);
        return skipped / 10;
    };
    EXPECT_EQ(repeats(kLayers), 8U);
    EXPECT_EQ(repeats(kLayers - 1), 8U);
    EXPECT_EQ(repeats(kLayers - 2), 7U);
}

/// Returns the number of skipped events. Thirty layers have W, the mark, and a hop behind it; every
/// `period`-th layer is the same.
std::uint64_t skipped_of_layers(int places, std::uint32_t period, bool early) {
    const std::vector<std::uint32_t> one_role(static_cast<std::size_t>(places));
    Workload workload =
        workload_of(row_of(places, true, {0}), {schedule_of({{.bytes = 5}}, 1, one_role)}, {});
    workload.operations.clear();
    TaskGraph& graph = workload.graphs[0];
    for (std::uint32_t layer = 0; layer < 30; ++layer) {
        graph.marks.push_back(2 * layer);
        graph.tasks.push_back(work(100 + 10 * std::int64_t{layer % period}, 0));
        workload.operations.push_back({.schedule = 0, .priority_class = 0});
        graph.tasks.push_back(operation(layer));
        graph.tasks.back().after = {2 * layer};
    }
    graph.early_marks = early ? graph.marks : std::vector<std::uint32_t>{};
    const ExecutionResult run = execute(workload, nullptr, true);
    EXPECT_EQ(run.events, std::uint64_t{30} * 3 * workload.machine.places);
    return run.events - run.played_events;
}

// When W5 has ended the state is that at the end of W0: four repeats of five
// layers, until W26 runs, each of two tasks and a hop at every place. If states
// take more than a megabyte together, four are remembered, and a period of five
// layers is not found. On 8192 places a state has more than 32 bytes a place: 8
// for the task that runs, 8 for the one that waits, 16 for a link's totals.
TEST(LastLayersTest, FewLargeStatesAreRemembered) {
    EXPECT_EQ(skipped_of_layers(2, 5, false), 4U * 5 * 3 * 2);
    EXPECT_EQ(skipped_of_layers(8192, 5, false), 0U);
}

// States at a picosecond before a layer's end are as large here, and are forgotten first: a period
// of four layers is found, W28 for W4.
TEST(LastLayersTest, LargeStatesBeforeEndsAreForgottenFirst) {
    for (const bool early : {false, true}) {
        EXPECT_EQ(skipped_of_layers(2, 4, early), 6U * 4 * 3 * 2);
        EXPECT_EQ(skipped_of_layers(8192, 4, early), 6U * 4 * 3 * 8192);
    }
}

// As long as there is room these states are remembered
// too: at 16384 places each has 24 bytes for tasks.
TEST(LastLayersTest, LargeStatesBeforeEndsAreRemembered) {
    constexpr int kRing = 16384;
    Workload workload = layers_with_one_task_less_at_the_end(kRing);
    workload.graphs[0].marks = {0};
    for (std::uint32_t layer = 0; layer < 9; ++layer) {
        workload.graphs[0].early_marks.push_back(3 * layer + 3);
    }
    EXPECT_EQ(execute(workload, nullptr, true).played_events, kRing * (31U - 7 * 3));
}

}  // namespace
}  // namespace podsim::sim
