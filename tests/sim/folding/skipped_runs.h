// Checks that runs that skip repeats equal runs that play all events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>

#include "sim/executor/executor.h"
#include "sim/queue/event_queue.h"
#include "sim/state/event_per_hop.h"
#include "sim/state/waves.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {

class TaskTimes : public Recorder {
public:
    [[nodiscard]] bool watches_hops() const override { return false; }
    void sort() {
        std::ranges::sort(ended);
        std::ranges::sort(began);
    }
};

/// Returns the number of events played with reuse. Hop by hop and in waves, the runs must equal the
/// whole run: its ends and totals, and the beginning and end of every task.
inline std::uint64_t played_of_the_same(const Workload& workload) {
    TaskTimes expected;
    ExecutionResult whole = play<EventPerHop<RadixQueue>>(workload, &expected, false);
    EXPECT_EQ(whole.played_events, whole.events);
    expected.sort();
    const auto skipping = [&](const auto& run) {
        TaskTimes seen;
        const ExecutionResult result = run(workload, &seen, true);
        seen.sort();
        whole.played_events = result.played_events;
        EXPECT_EQ(result, whole);
        EXPECT_EQ(seen.ended, expected.ended);
        EXPECT_EQ(seen.began, expected.began);
        return result.played_events;
    };
    const std::uint64_t played = skipping(play<EventPerHop<RadixQueue>>);
    EXPECT_EQ(skipping(play<Waves<RadixQueue>>), played);
    return played;
}

}  // namespace podsim::sim
