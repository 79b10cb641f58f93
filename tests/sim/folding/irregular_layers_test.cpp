// Irregular layers: runs that skip repeats equal runs that
// play all events, in small cases by hand and in random ones.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/sim/folding/skipped_runs.h"

namespace podsim::sim {
namespace {

// Ten tasks of 100 are all marks. Then come F, which has ended at 1, and D, which follows F and
// task 4: it waits only for task 4, although F has a higher number than all touched tasks.
TEST(IrregularLayersTest, WhatIsFarAheadMayHaveEnded) {
    std::vector<Task> tasks(10, work(100));
    tasks.push_back(work(1, 1));
    tasks.push_back(work(5, 2, {4, 10}));
    Workload workload = workload_of(row_of(1, false, {0}), {}, tasks);
    for (std::uint32_t task = 0; task < 10; ++task) {
        workload.graphs[0].marks.push_back(task);
    }
    EXPECT_LT(played_of_the_same(workload), 12U);
}

// Layers have Y (1, after the Z before), W (100, the mark) and Z (90,
// after W), each on its own resource. The Y of layer 8 is on the resource
// of W: it waits when earlier layers are skipped, and W waits for it.
TEST(IrregularLayersTest, WhatHasNotBegunMayStandBeforeAnImageOnItsResource) {
    std::vector<Task> tasks;
    Workload workload = workload_of(row_of(1, false, {0}), {}, {});
    for (std::uint32_t layer = 0; layer < 12; ++layer) {
        const std::uint32_t first = 3 * layer;
        tasks.push_back(work(1, layer == 8 ? 0 : 1));
        if (layer > 0) {
            tasks.back().after = {first - 1};
        }
        tasks.push_back(work(100, 0));
        tasks.push_back(work(90, 2, {first + 1}));
        workload.graphs[0].marks.push_back(first + 1);
    }
    workload.graphs[0].tasks = tasks;
    EXPECT_LT(played_of_the_same(workload), 36U);
}

// Layers have Y (1, after the Z before), W (40, after the B before), N (10, after W, the mark), B
// (50, after N) and Z (100), which lags behind by 250. The Y of layer 8 is on the resource of W.
TEST(IrregularLayersTest, WhatLagsBehindMayStandBeforeAnImage) {
    std::vector<Task> tasks{work(250, 2)};
    Workload workload = workload_of(row_of(1, false, {0}), {}, {});
    for (std::uint32_t layer = 0; layer < 14; ++layer) {
        const std::uint32_t first = 1 + 5 * layer;
        tasks.push_back(work(1, layer == 8 ? 0 : 1));
        tasks.push_back(work(40, 0));
        if (layer > 0) {
            tasks[first].after = {first - 1};
            tasks[first + 1].after = {first - 2};
        }
        tasks.push_back(work(10, 3, {first + 1}));
        tasks.push_back(work(50, 3, {first + 2}));
        tasks.push_back(work(100, 2));
        workload.graphs[0].marks.push_back(first + 2);
    }
    workload.graphs[0].tasks = tasks;
    played_of_the_same(workload);
}

// Layers have a mark of 100 and beside it X (10, after the mark before), which is an operation in
// layer 6. It has ended before the mark of its layer and is not among the repeats. 20 layers at two
// places have 80 tasks and 2 hops.
TEST(IrregularLayersTest, OperationsThatEndedBeforeTheirMarkDoNotRepeat) {
    Workload workload = workload_of(
        row_of(2, true, {0}), {schedule_of({{.bytes = 5}}, 1, std::vector<std::uint32_t>(2))}, {});
    std::vector<Task>& tasks = workload.graphs[0].tasks;
    for (std::uint32_t layer = 0; layer < 20; ++layer) {
        workload.graphs[0].marks.push_back(2 * layer);
        tasks.push_back(work(100, 0));
        tasks.push_back(layer == 6 ? operation(0) : work(10, 1));
        if (layer > 0) {
            tasks.back().after = {2 * layer - 2};
        }
    }
    EXPECT_LT(played_of_the_same(workload), 82U);
}

// Operations lag behind their marks by four layers.
// They have one hop a place, and from one layer on two.
TEST(IrregularLayersTest, OperationsThatLagBehindCountAsTheyAre) {
    const std::vector<std::uint32_t> one_role(2);
    for (const std::uint32_t odd : {4U, 6U, 8U}) {
        for (std::uint32_t from = odd - 1; from < odd + 4; ++from) {
            Workload workload =
                workload_of(row_of(2, true, {0}),
                            {schedule_of({{.bytes = 5}}, 1, one_role),
                             schedule_of({{.bytes = 5}, {.bytes = 5}}, 1, one_role)},
                            {work(430, 1)});
            workload.operations.clear();
            std::vector<Task>& tasks = workload.graphs[0].tasks;
            for (std::uint32_t layer = 0; layer < 20; ++layer) {
                const std::uint32_t first = 1 + 3 * layer;
                const std::int64_t longer = layer < odd ? layer : 0;
                workload.graphs[0].marks.push_back(first);
                tasks.push_back(work(100 + longer, 0));
                tasks.push_back(work(100 + longer, 1, {first}));
                workload.operations.push_back(
                    {.schedule = layer >= from ? 1U : 0U, .priority_class = 0});
                tasks.push_back(operation(layer));
                tasks.back().after = {first + 1};
            }
            SCOPED_TRACE(std::to_string(odd) + " " + std::to_string(from));
            played_of_the_same(workload);
        }
    }
}

// Layers have V (80), then C (100 bytes over a link), and beside them W (100), which ends the
// layer. Before the first an operation of 80 bytes holds the link, and the first V takes longer.
// Several Cs are open at once, and their begins are spaced differently from those to come.
TEST(IrregularLayersTest, WhatRunsForSeveralLayersBeganWhenItDid) {
    const std::vector<std::uint32_t> one_role(2);
    for (const std::int64_t first : {0, 40, 100, 120}) {
        for (const double before : {80.0, 200.0, 330.0}) {
            Workload workload = workload_of(row_of(2, true, {0}),
                                            {schedule_of({{.bytes = before}}, 1, one_role),
                                             schedule_of({{.bytes = 100}}, 1, one_role)},
                                            {operation(0)});
            workload.operations = {{.schedule = 0, .priority_class = 0}};
            std::vector<Task>& tasks = workload.graphs[0].tasks;
            for (std::uint32_t layer = 0; layer < 12; ++layer) {
                const std::uint32_t v = 3 * layer + 1;
                const std::vector<std::uint32_t> after =
                    layer == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{v - 2};
                tasks.push_back(work(layer == 0 ? first : 80, 0, after));
                tasks.push_back(work(100, 1, after));
                tasks.push_back(operation(layer + 1));
                tasks.back().after = {v};
                workload.operations.push_back({.schedule = 1, .priority_class = 0});
                workload.graphs[0].marks.push_back(v + 1);
            }
            SCOPED_TRACE(std::to_string(first) + " " + std::to_string(before));
            played_of_the_same(workload);
        }
    }
}

}  // namespace
}  // namespace podsim::sim
