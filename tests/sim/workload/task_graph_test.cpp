// The first work that needs each operation of a graph.
#include "sim/workload/task_graph.h"

#include <gtest/gtest.h>

#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

/// 4 waits for 0, through 2; 5 and 6 for 1; 6 for 3, while 4 only follows 3 on its resource; no
/// work waits for the rest.
TEST(TaskGraphTest, SaysWhichWorkWaitsFirst) {
    const TaskGraph graph{.tasks = {operation(0), operation(1), after(operation(2), {0}), work(1),
                                    work(1, 0, {2}), work(1, 0, {1}), work(1, 0, {1, 3}),
                                    after(operation(3), {6})}};
    EXPECT_EQ(first_needed(graph), (std::vector<std::uint32_t>{4, 5, 4, 6, 8, 8, 8, 8}));
}

}  // namespace
}  // namespace podsim::sim
