// The two total orders of the kernel: pending events, and the messages that wait for a link.
#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "sim/event_queue.h"
#include "sim/link_server.h"

namespace podsim::sim {
namespace {

TEST(EventQueueTest, ByTimeThenInTheOrderPushed) {
    EventQueue queue;
    EXPECT_TRUE(queue.empty());
    queue.push({Time{5}, EventKind::task_ended, 1, 11});
    queue.push({Time{3}, EventKind::message_arrived, 2});
    queue.push({Time{5}, EventKind::link_free, 3});  // a smaller kind does not go first
    queue.push({Time{3}, EventKind::head_arrived, 4});
    EXPECT_EQ(queue.size(), 4U);
    EXPECT_EQ(queue.next_time(), Time{3});
    std::vector<std::uint32_t> subjects;
    std::vector<EventKind> kinds;
    while (!queue.empty()) {
        const Event event = queue.pop();
        subjects.push_back(event.subject);
        kinds.push_back(event.kind());
        if (event.subject == 1) {
            EXPECT_EQ(event.detail, 11U);
        }
    }
    EXPECT_EQ(subjects, (std::vector<std::uint32_t>{2, 4, 1, 3}));
    EXPECT_EQ(kinds, (std::vector{EventKind::message_arrived, EventKind::head_arrived,
                                  EventKind::task_ended, EventKind::link_free}));
}

/// Pushes and pops in random turns; the popped are a stable sort of what was there.
TEST(EventQueueTest, RandomTurnsAgainstAStableSort) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        EventQueue queue;
        std::vector<std::pair<std::int64_t, std::uint32_t>> waiting;  // in push order
        std::uint32_t next = 0;
        for (int turn = 0; turn < 400; ++turn) {
            if (random() % 5 < 3) {
                const auto time = static_cast<std::int64_t>(random() % 9);
                queue.push({Time{time}, static_cast<EventKind>(random() % 5), next});
                waiting.emplace_back(time, next++);
            } else if (!waiting.empty()) {
                std::ranges::stable_sort(waiting, {},
                                         &std::pair<std::int64_t, std::uint32_t>::first);
                const Event event = queue.pop();
                ASSERT_EQ(event.time.ps, waiting.front().first);
                ASSERT_EQ(event.subject, waiting.front().second);
                waiting.erase(waiting.begin());
                std::ranges::sort(waiting, {}, &std::pair<std::int64_t, std::uint32_t>::second);
            }
            ASSERT_EQ(queue.size(), waiting.size());
        }
    }
}

TEST(LinkServerTest, PriorityThenArrivalThenKeyThenHop) {
    LinkServer server;
    EXPECT_FALSE(server.has_waiting());
    server.add({.priority = 1, .arrival = Time{0}, .key = 0, .hop = 0, .message = 5});
    server.add({.priority = 0, .arrival = Time{9}, .key = 0, .hop = 0, .message = 4});
    server.add({.priority = 0, .arrival = Time{8}, .key = 7, .hop = 0, .message = 3});
    server.add({.priority = 0, .arrival = Time{8}, .key = 6, .hop = 2, .message = 2});
    server.add({.priority = 0, .arrival = Time{8}, .key = 6, .hop = 1, .message = 1});
    for (std::uint32_t message = 1; message <= 5; ++message) {
        ASSERT_TRUE(server.has_waiting());
        EXPECT_EQ(server.take_first().message, message);
    }
    EXPECT_FALSE(server.has_waiting());
}

TEST(LinkServerTest, HoldsAndCounts) {
    LinkServer server;
    EXPECT_TRUE(server.idle(Time{0}));
    server.hold(Time{10}, Time{30}, Bytes(5));
    EXPECT_FALSE(server.idle(Time{29}));
    EXPECT_TRUE(server.idle(Time{30}));  // free at its end
    server.hold(Time{40}, Time{41}, Bytes(2.5));
    EXPECT_EQ(server.busy(), Time{21});
    EXPECT_EQ(server.free_at(), Time{41});
    EXPECT_EQ(static_cast<double>(server.carried()) / kCarriedUnit, 7.5);
}

}  // namespace
}  // namespace podsim::sim
