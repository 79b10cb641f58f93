// Predicted bytes of links against the bytes that they have carried at the end of a run.
#include "sim/workload/carried_in_all.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

std::int64_t sum_of(const std::vector<std::int64_t>& carried) {
    return std::accumulate(carried.begin(), carried.end(), std::int64_t{0});
}

/// Returns a schedule in which every place has its own role, with sends of fractions of bytes.
Schedule random_schedule(std::uint32_t places, bool ring, std::mt19937_64& random) {
    std::vector<Send> sends;
    for (std::uint32_t i = 0; i < 2 * places; ++i) {
        const std::uint32_t role = i / 2;
        const int to = static_cast<int>(role) + static_cast<int>(random() % 7) - 3;
        const int count = static_cast<int>(places);
        const int reached = ring ? to : std::clamp(to, 0, count - 1);
        sends.push_back({.role = role,
                         .distance = reached - static_cast<int>(role),
                         .bytes = static_cast<double>(random() % 1000) / 7,
                         .to_role = static_cast<std::uint32_t>((reached + count) % count)});
    }
    std::vector<std::uint32_t> roles(places);
    std::iota(roles.begin(), roles.end(), 0U);
    return schedule_of(sends, places, roles);
}

// Operations share schedules, and one of them takes part at
// two places only: the bytes agree to the unit, link by link.
TEST(CarriedInAll, IsWhatARunHasCarriedInTheEnd) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const std::uint32_t places = 4 + static_cast<std::uint32_t>(random() % 5);
        const bool ring = random() % 2 == 0;
        // In the third schedule places 0 and 1 send to each other.
        const Schedule pair =
            schedule_of({{.role = 0, .distance = 1, .bytes = 10.3, .to_role = 1},
                         {.role = 1, .distance = -1, .bytes = 20.6, .to_role = 0}},
                        2, {});
        Workload workload = workload_of(
            row_of(static_cast<int>(places), ring, {5}),
            {random_schedule(places, ring, random), random_schedule(places, ring, random), pair},
            {operation(0), after(operation(1), {0}), operation(2), after(operation(3), {2}),
             after(operation(4), {3})});
        std::vector<std::uint32_t> placed(places, kAbsent);
        placed[0] = 0;
        placed[1] = 1;
        workload.placements = {placed};
        workload.graphs.push_back(workload.graphs.front());
        workload.graphs.back().tasks.pop_back();  // for places without the pair
        for (std::size_t place = 2; place < places; ++place) {
            workload.graph_of_place[place] = 1;
        }
        workload.operations = {{.schedule = 0, .priority_class = 0},
                               {.schedule = 1, .priority_class = 0},
                               {.schedule = 0, .priority_class = 1},
                               {.schedule = 0, .priority_class = 0},
                               {.schedule = 2, .priority_class = 0, .placement = 0}};
        const std::vector<std::int64_t> carried = carried_in_all(workload);
        const ExecutionResult result = execute(workload);
        ASSERT_EQ(carried.size(), result.links.size());
        for (std::size_t link = 0; link < carried.size(); ++link) {
            EXPECT_EQ(carried[link], result.links[link].carried_units);
        }
        EXPECT_GT(sum_of(carried), 0);
    }
}

}  // namespace
}  // namespace podsim::sim
