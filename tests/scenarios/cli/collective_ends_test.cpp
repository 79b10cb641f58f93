// `podsim collective` between named chips: worked numbers, incompatible options, chips that do
// not exist.
#include <gmock/gmock.h>

#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using SortedJson = nlohmann::json;

/// Options on v5e 4x4 with 16777216 B.
std::vector<std::string> on_v5e(std::vector<std::string> more) {
    std::vector<std::string> args{"collective", "--chip",  "v5e",     "--slice",
                                  "4x4",        "--bytes", "16777216"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

void expect_message(const std::vector<std::string>& options, const std::string& message) {
    const Outcome outcome = podsim(on_v5e(options));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, message + '\n');
}

// Two routes of 6 links, 2 messages of 4 MiB on each: 6 us + 2 x 93.206756 us (ends_test.cpp).
TEST(CollectiveEnds, SendFromCornerToCorner) {
    const std::vector<std::string> send{"--op", "send", "--from", "0,0", "--to", "3,3"};
    const Outcome text = podsim(on_v5e(send));
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out,
                StartsWith("send from (0,0) to (3,3) of 16.78 MB (v5e 4x4, 16 chips, no axis "
                           "wraps), 2 members, algorithm disjoint-routes (picked by auto), "
                           "6 hops\n  2 disjoint routes of 6, 6 links\n"));
    std::vector<std::string> as_json = on_v5e(send);
    as_json.insert(as_json.end(), {"--json", "-"});
    const SortedJson json = SortedJson::parse(podsim(as_json).out);
    EXPECT_DOUBLE_EQ(json["simulated_s"].get<double>(), 192.413512e-6);
    EXPECT_DOUBLE_EQ(json["analytic_s"].get<double>(), 192.413512e-6);
    EXPECT_DOUBLE_EQ(json["physical_bound_s"].get<double>(), 16777216 / 9e10);
    EXPECT_EQ(json["members"], 2);
    EXPECT_EQ(json["axes"], "");
    EXPECT_EQ(json["from"], (SortedJson{0, 0}));
    EXPECT_EQ(json["to"], (SortedJson{3, 3}));
    EXPECT_DOUBLE_EQ(json["bus_bandwidth_bytes_per_s"].get<double>(), 16777216 / 192.413512e-6);
}

TEST(CollectiveEnds, RootsAndShifts) {
    const auto head = [](const std::vector<std::string>& options) {
        return podsim(on_v5e(options)).out;
    };
    EXPECT_THAT(
        head({"--op", "gather", "--axes", "xy", "--root", "0,0"}),
        StartsWith("gather to (0,0) over xy of 16.78 MB (v5e 4x4, 16 chips, no axis wraps), 16 "
                   "members, algorithm balanced-routes (picked by auto), 6 hops\n"));
    EXPECT_THAT(head({"--op", "scatter", "--axes", "x", "--root", "1,2"}),
                StartsWith("scatter from (1,2) over x of"));
    EXPECT_THAT(head({"--op", "broadcast", "--axes", "xy", "--root", "0,0"}),
                HasSubstr("  2 disjoint trees, "));
    EXPECT_THAT(head({"--op", "permute", "--axes", "x"}), StartsWith("permute by 1 over x of"));
    EXPECT_THAT(head({"--op", "permute", "--axes", "x", "--shift", "-1"}),
                StartsWith("permute by -1 over x of"));
}

TEST(CollectiveEnds, OptionsThatDoNotGoTogether) {
    expect_message({"--op", "all-gather", "--axes", "x", "--root", "0,0"},
                   "podsim collective: --root does not go with --op all-gather; it is for "
                   "broadcast, gather and scatter");
    expect_message(
        {"--op", "send", "--axes", "x", "--from", "0,0", "--to", "1,1"},
        "podsim collective: --axes does not go with --op send; it is for every operation "
        "but send");
    expect_message({"--op", "gather", "--axes", "x", "--root", "0,0", "--shift", "1"},
                   "podsim collective: --shift does not go with --op gather; it is for permute");
    expect_message({"--op", "send", "--from", "1,1", "--to", "1,1"},
                   "podsim collective: --from and --to name the same chip; name two chips");
    expect_message({"--op", "broadcast", "--axes", "x", "--root", "0,0", "--algorithm", "weighted"},
                   "podsim collective: algorithm 'weighted' does not carry out broadcast on this "
                   "group; allowed: auto, disjoint-trees");
}

TEST(CollectiveEnds, ChipsAndShiftsThatDoNotExist) {
    expect_message({"--op", "gather", "--axes", "x", "--root", "0,4"},
                   "--root 0,4: y = 4 lies outside the slice 4x4; write 2 coordinates, from 0,0 to "
                   "3,3");
    expect_message({"--op", "gather", "--axes", "x", "--root", "0"},
                   "--root 0: not a chip of the slice; write 2 coordinates, from 0,0 to 3,3");
    expect_message({"--op", "gather", "--axes", "x", "--root", "0,0,0"},
                   "--root 0,0,0: not a chip of the slice; write 2 coordinates, from 0,0 to 3,3");
    expect_message({"--op", "send", "--from", "a,b", "--to", "1,1"},
                   "--from a,b: not a chip of the slice; write 2 coordinates, from 0,0 to 3,3");
    expect_message({"--op", "permute", "--axes", "x", "--shift", "8"},
                   "--shift 8: a shift by 8 moves nothing in a group of 4; take one that is not a "
                   "multiple of 4");
    expect_message({"--op", "permute", "--axes", "x", "--shift", "1.5"},
                   "--shift 1.5: not a whole number; write a number of members, such as 1 or -1");
}

TEST(CollectiveEnds, BetweenSingleChipsSaysThatAllIsFlat) {
    const auto head = [](const std::string& algorithm) {
        const std::string text =
            podsim({"collective", "--slice", "v5p-128", "--slices", "2", "--op", "all-gather",
                    "--axes", "slice", "--bytes", "1e6", "--algorithm", algorithm})
                .out;
        const std::size_t from = text.find("algorithm ");
        return text.substr(from, text.find('\n') - from);
    };
    EXPECT_EQ(head("auto"), "algorithm flat (picked by auto), 4 hops");
    EXPECT_EQ(head("flat"), "algorithm flat, 4 hops");
    EXPECT_EQ(head("one-way"),
              "algorithm flat (one-way was asked for; between single chips of slices all are "
              "flat), 4 hops");
}

}  // namespace
}  // namespace podsim::scenarios
