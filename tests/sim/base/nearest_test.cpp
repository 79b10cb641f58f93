#include "sim/base/nearest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/base/random.h"

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
    EXPECT_EQ(nearest("", std::vector<std::string>{"q"}), "");
    EXPECT_EQ(nearest(".", std::vector<std::string>{"q"}), "");
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

// Fills the whole table by its definition (optimal string
// alignment), where the function keeps three rows.
std::size_t edits_by_definition(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            d[i][j] = std::max(i, j);
            if (i > 0 && j > 0) {
                const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
                d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + changed});
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

TEST(Nearest, EditsAreThoseOfTheDefinition) {
    EXPECT_EQ(edits_between("remat", "remta"), 1U);
    EXPECT_EQ(edits_between("", "mesh"), 4U);
    std::uint64_t random = 7;
    const auto word = [&] {
        std::string text;
        for (std::uint64_t length = next_random(random) % 9; length > 0; --length) {
            text += static_cast<char>('a' + next_random(random) % 3);
        }
        return text;
    };
    for (int i = 0; i < 2000; ++i) {
        const std::string a = word();
        const std::string b = "+" + word();
        const std::size_t edits = edits_by_definition(a, b);
        ASSERT_EQ(edits_between(a, b), edits) << a << ' ' << b;
        // A name is near if a third of the longer one's letters
        // are edited, or if it contains the wanted name.
        const std::size_t longer = std::max(a.size(), b.size());
        const bool is_near = (edits <= std::max<std::size_t>(1, longer / 3) && edits < longer) ||
                             (a.size() >= 2 && b.find(a) != std::string::npos);
        ASSERT_EQ(nearest(a, std::vector<std::string>{b}), is_near ? b : "") << a << ' ' << b;
    }
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
