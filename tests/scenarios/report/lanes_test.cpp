// Lanes for intervals that overlap.
#include "scenarios/src/report/lanes.h"

#include <gmock/gmock.h>
#include <random>

namespace podsim::scenarios {
namespace {

using ::testing::ElementsAre;

Interval interval(std::int64_t from, std::int64_t until) {
    return {{from}, {until}};
}

TEST(Lanes, AreTheFirstFreeOnesInOrderOfBeginnings) {
    EXPECT_THAT(lanes_of({interval(0, 10), interval(5, 7), interval(7, 9), interval(10, 11)}),
                ElementsAre(0, 1, 1, 0));
    EXPECT_THAT(lanes_of({interval(5, 7), interval(0, 10)}), ElementsAre(1, 0));
    EXPECT_THAT(lanes_of({interval(0, 2), interval(0, 3)}), ElementsAre(1, 0));
    EXPECT_THAT(lanes_of({interval(4, 4), interval(4, 5)}), ElementsAre(-1, 0));
    EXPECT_THAT(lanes_of({}), ElementsAre());
}

// There are as many lanes as intervals ever overlap, and no two intervals of a lane do.
TEST(Lanes, AreAsManyAsOverlap) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        std::vector<Interval> intervals;
        for (int i = 0; i < 30; ++i) {
            const auto from = static_cast<std::int64_t>(random() % 50);
            intervals.push_back(
                interval(from, from + 1 + static_cast<std::int64_t>(random() % 20)));
        }
        const std::vector<int> lanes = lanes_of(intervals);
        int most = 0;
        for (std::int64_t at = 0; at < 70; ++at) {
            std::vector<int> here;
            for (std::size_t i = 0; i < intervals.size(); ++i) {
                if (intervals[i].from.ps <= at && at < intervals[i].until.ps) {
                    EXPECT_EQ(std::ranges::count(here, lanes[i]), 0);
                    here.push_back(lanes[i]);
                }
            }
            most = std::max(most, static_cast<int>(here.size()));
        }
        EXPECT_EQ(*std::ranges::max_element(lanes) + 1, most);
    }
}

}  // namespace
}  // namespace podsim::scenarios
