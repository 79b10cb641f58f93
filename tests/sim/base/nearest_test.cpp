#include "sim/base/nearest.h"

#include <array>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace podsim::sim {
namespace {

TEST(Nearest, FewestEditsWin) {
    const std::vector<std::string> names{"all-gather", "reduce-scatter", "all-reduce",
                                         "all-to-all"};
    EXPECT_EQ(nearest("all-gahter", names), "all-gather");  // one swap
    EXPECT_EQ(nearest("allreduce", names), "all-reduce");   // one letter missing
    EXPECT_EQ(nearest("ALL_TO_ALL", names), "all-to-all");  // two replaced, case does not count
    EXPECT_EQ(nearest("reduce-scater", names), "reduce-scatter");
}

TEST(Nearest, NothingWhenNothingIsNear) {
    const std::vector<std::string> names{"all-gather", "all-reduce"};
    EXPECT_EQ(nearest("broadcast", names), "");
    EXPECT_EQ(nearest("", names), "");
    EXPECT_EQ(nearest("all-gather", std::vector<std::string>{}), "");
}

TEST(Nearest, APartOfANameIsNear) {
    const std::vector<std::string> names{"llama-2-13b", "llama-3-70b"};
    EXPECT_EQ(nearest("llama-3", names), "llama-3-70b");
    EXPECT_EQ(nearest("meta-llama/llama-3-70b", names), "llama-3-70b");
}

TEST(Nearest, OfEquallyNearNamesTheLongerCommonStartThenTheEarlier) {
    // v4 is one edit from v3 and from v4p; it shares two letters with v4p.
    EXPECT_EQ(nearest("v4", std::vector<std::string>{"v3", "v4p"}), "v4p");
    EXPECT_EQ(nearest("ac", std::vector<std::string>{"ab", "ad"}), "ab");
}

TEST(Nearest, TakesViewsToo) {
    constexpr std::array<std::string_view, 2> kNames{"auto", "off"};
    EXPECT_EQ(nearest("of", kNames), "off");
    EXPECT_STREQ(unknown_name("fold", "of", kNames).what(),
                 "unknown fold 'of'; did you mean 'off'? allowed: auto, off");
    EXPECT_STREQ(unknown_name("fold", "quotient", kNames).what(),
                 "unknown fold 'quotient'; allowed: auto, off");
}

}  // namespace
}  // namespace podsim::sim
