// Records that memories keep of streams, links and messages, against plain maps.
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "sim/memory/memories.h"
#include "sim/memory/memory_group.h"

namespace podsim::sim {
namespace {

TEST(FewTest, KeepsTheOrderAndTakesOut) {
    Few<int, 3> few;
    EXPECT_TRUE(few.empty());
    for (const int value : {4, 1, 9}) {
        few.push_back(value);
    }
    EXPECT_TRUE(few.contains(1));
    EXPECT_TRUE(few.erase(1));
    EXPECT_FALSE(few.erase(1));
    EXPECT_EQ(std::vector(few.begin(), few.end()), (std::vector{4, 9}));
}

TEST(FollowedLinksTest, AreThoseOfAMap) {
    std::mt19937 random(3);
    FollowedLinks links;
    std::map<std::uint32_t, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const auto server = static_cast<std::uint32_t>(random() % 40);
        ASSERT_EQ(links.contains(server), expected.contains(server));
        if (expected.erase(server) != 0) {
            links.erase(server);
        } else {
            links.add(server, {.operation = i}, Time{i});
            expected[server] = i;
        }
        std::vector<std::uint32_t> servers;
        for (const auto& [each, operation] : expected) {
            servers.push_back(each);
            ASSERT_EQ(links[each].message.operation, operation);
            ASSERT_EQ(links[each].due, Time{operation});
        }
        ASSERT_EQ(links.servers(), servers);
        ASSERT_EQ(links.empty(), servers.empty());
    }
}

TEST(LateMessagesTest, AreThoseOfASet) {
    std::mt19937 random(5);
    LateMessages late(4);
    std::set<MessageId> expected;
    for (int i = 0; i < 2000; ++i) {
        const MessageId id{static_cast<std::uint32_t>(random() % 3),
                           static_cast<std::uint32_t>(random() % 3),
                           static_cast<std::uint32_t>(random() % 4)};
        LateMessage* const found = late.find(id);
        ASSERT_EQ(found != nullptr, expected.contains(id));
        if (found == nullptr) {
            const LateMessage* const added = &late.find_or_add(id);
            EXPECT_EQ(added, late.find(id));
            EXPECT_EQ(added, &late.find_or_add(id));
            expected.insert(id);
        } else {
            ASSERT_EQ(found->id, id);
            late.erase(found);
            expected.erase(id);
        }
        std::vector<MessageId> ids;
        for (const LateMessage& each : late.sorted()) {
            ids.push_back(each.id);
        }
        ASSERT_EQ(ids, std::vector(expected.begin(), expected.end()));
        ASSERT_EQ(late.empty(), expected.empty());
    }
}

/// Each owner at a place has a fixed slot, of which any number can be added. Links find their slot
/// whichever place they were at before.
TEST(MemoryGroupTest, OwnersKeepTheirSlots) {
    MemoryGroup group(100, true);
    std::map<SharedServer::Key, std::size_t> expected;
    std::mt19937 random(9);
    std::int64_t bound = 0;
    for (int i = 0; i < 3000; ++i) {
        const SharedServer::Key owner{static_cast<std::uint32_t>(random() % 3),
                                      static_cast<std::uint32_t>(random() % 20)};
        const std::size_t slot = group.find_slot(owner);
        const auto [known, added] = expected.try_emplace(owner, slot);
        ASSERT_EQ(known->second, slot);
        ASSERT_EQ(group.streams[slot].owner, owner);
        ASSERT_EQ(group.loads[slot].demand == 0, added);
        const auto demand = static_cast<std::int64_t>(1 + random() % 50);
        bound += demand - group.loads[slot].demand;
        group.begin(slot, {.owner = owner, .demand = demand, .end = Time{i}});
        ASSERT_EQ(group.bound, bound);
    }
    // Only the demands of the streams that began last remain, as the others have ended.
    std::int64_t left = 0;
    for (const MemoryGroup::Load& load : group.loads) {
        left += load.end > Time{2990} ? load.demand : 0;
    }
    EXPECT_EQ(group.asks_too_much(Time{2990}, left), false);
    EXPECT_EQ(group.asks_too_much(Time{2990}, left - 1), true);
}

}  // namespace
}  // namespace podsim::sim
