// Roots reach their link one after the other, each as if it had waited there from the start. The
// run equals that with every transfer behind a join, which fires them all at once, one by one.
#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "sim/executor/executor.h"
#include "sim/queue/event_queue.h"
#include "sim/state/event_per_hop.h"
#include "sim/state/waves.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

constexpr int kRing = 6;

/// Many roots of several phases over one to three links
/// in both directions, with transfers that follow them.
std::vector<Send> random_roots(std::mt19937_64& random) {
    std::vector<Send> sends;
    for (std::uint32_t i = 0; i < 60; ++i) {
        Send send;
        send.distance = static_cast<int>(1 + random() % 3) * (random() % 2 == 0 ? 1 : -1);
        send.bytes = static_cast<double>(1 + random() % 3) * 100;
        send.phase = static_cast<std::uint32_t>(random() % 4);
        if (i > 20 && random() % 3 == 0) {
            send.after.push_back(static_cast<std::uint32_t>(random() % i));
        }
        sends.push_back(send);
    }
    return sends;
}

/// Transfers that needed only the start follow a join that needs it.
std::vector<Send> behind_a_join(std::vector<Send> sends) {
    for (Send& send : sends) {
        for (std::uint32_t& before : send.after) {
            ++before;
        }
        if (send.after.empty()) {
            send.after = {0};
        }
    }
    sends.insert(sends.begin(), Send{.distance = 0, .bytes = 0});
    return sends;
}

Workload two_operations(const std::vector<Send>& sends, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Schedule schedule = schedule_of(sends, 1, std::vector<std::uint32_t>(kRing));
    for (Transfer& transfer : schedule.transfers) {
        transfer.phase_per_hop = seed % 3 == 0 ? 0 : 1;
    }
    Machine machine = row_of(kRing, true, {static_cast<std::int64_t>(random() % 3) * 50});
    for (LinkSpec& link : machine.links) {
        link.rate = BytesPerSecond(1e12 / static_cast<double>(1 + random() % 2));
    }
    // Operations overlap, and places start at different times.
    Workload workload = workload_of(machine, {schedule, schedule},
                                    {operation(0), operation(1, {700}), work(40), operation(2)});
    workload.operations.push_back({.schedule = 0, .priority_class = 0});
    workload.operations[seed % 3].priority_class = 1;
    workload.graphs[0].tasks[3].after = {2};
    workload.machine.slowdown.assign(kRing, 1);
    workload.machine.slowdown[1] = 3;
    if (seed % 4 == 0) {
        workload.machine.memory_rate = 2 * static_cast<std::int64_t>(1e12);
        workload.graphs[0].tasks[2].demand = static_cast<std::int64_t>(1e12);
    }
    return workload;
}

TEST(RootRowsTest, AsIfAllWaitedFromTheStart) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const std::vector<Send> sends = random_roots(random);
        Workload in_rows = two_operations(sends, seed);
        Workload at_once = two_operations(behind_a_join(sends), seed);
        for (const auto run : {play<Waves<RadixQueue>>, play<EventPerHop<RadixQueue>>}) {
            Recorder rows;
            Recorder once;
            ASSERT_EQ(run(in_rows, &rows, true), run(at_once, &once, true));
            std::ranges::sort(rows.held);
            std::ranges::sort(once.held);
            ASSERT_EQ(rows.held, once.held);
            // The observer is notified of all transfers when
            // they fire; the join shifts their numbers by one.
            for (Recorder::Seen& fired : rows.fired) {
                ++fired.what;
            }
            std::ranges::sort(rows.fired);
            std::ranges::sort(once.fired);
            ASSERT_EQ(rows.fired, once.fired);
        }
    }
}

}  // namespace
}  // namespace podsim::sim
