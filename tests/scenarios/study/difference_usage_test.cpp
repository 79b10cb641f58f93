// Refusals and offers of `podsim diff`.
#include <algorithm>
#include <gmock/gmock.h>

#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

using DiffUsage = CommandTest;

// Errors of a change have the option that makes it as their position.
TEST_F(DiffUsage, NamesTheOptionOfAChange) {
    const std::string file = write(kGood);
    const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
        std::vector<std::string> args{"diff", file};
        args.insert(args.end(), more.begin(), more.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2) << message;
        EXPECT_EQ(outcome.err, message + '\n');
    };
    refused({"--set-b", "batch.tokens=64000"},
            "--set-b batch.tokens=64000: tokens = 64000 is not a multiple of sequence = 4096; the "
            "nearest that work are 61440 and 65536");
    refused({"--set-a", "batch.tokens=many", "--set-b", "training.remat=full"},
            "--set-a batch.tokens=many: batch.tokens: 'many' is not a whole number; write a whole "
            "number such as 4Mi; units: k, M, G, T, Ki, Mi, Gi, Ti");
    refused({"--set-b", "batch.tokens"},
            "--set-b: 'batch.tokens' has no '='; write --set-b key.path=value, as in --set-b "
            "hardware.slice=4x4x4");
    refused({"--set-b", "batch..tokens=1"},
            "--set-b batch..tokens=1: the key path is empty in a place, or too deep; write --set-b "
            "key.path=value, as in --set-b hardware.slice=4x4x4");
    refused({"--set", "batch.tokens=64000", "--set-b", "training.remat=full"},
            "--set batch.tokens=64000: tokens = 64000 is not a multiple of sequence = 4096; the "
            "nearest that work are 61440 and 65536");
}

// It does not offer more of a section without further lines, and does not summarise a single line
// as others.
TEST_F(DiffUsage, OffersNoMoreOfWhatDoesNotDiffer) {
    const std::string file = write(kGood);
    const Outcome same = podsim({"diff", file, file});
    EXPECT_EQ(same.status, 0);
    EXPECT_THAT(same.out, HasSubstr("No setting differs\n"));
    EXPECT_THAT(same.out, Not(HasSubstr("More:")));
    EXPECT_THAT(same.out, Not(EndsWith("\n\n")));
    const Outcome other = podsim({"diff", file, "--set-b", "hardware.profile=ideal"});
    EXPECT_THAT(other.out, EndsWith("More: --verbose\n"));
    const auto doc = nlohmann::json::parse(
        podsim({"diff", file, "--set-b", "hardware.profile=ideal", "--json", "-"}).out);
    const auto differ = std::ranges::count_if(
        doc["causes_s"], [](const auto& term) { return term["more"].template get<double>() != 0; });
    // Four, and one more, which would be "1 others".
    EXPECT_EQ(differ, 5);
    EXPECT_THAT(other.out, Not(HasSubstr("others that differ")));
}

}  // namespace
}  // namespace podsim::scenarios
