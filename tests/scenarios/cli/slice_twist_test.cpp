// Slices whose Cloud name stands for two kinds: the message names the setting that decides,
// wherever a slice is given.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class SliceTwist : public CommandTest {
protected:
    static std::string twisted(const std::string& slice) {
        return "'" + slice + "_twisted' says its twist, which is a setting of its own; write " +
               slice + " with --twisted, in a scenario with hardware.twisted: true";
    }
    static std::string untwisted(const std::string& slice) {
        return "'" + slice + "_untwisted' says its twist, which is a setting of its own; write " +
               slice +
               ": it is twisted with --twisted alone, in a scenario with hardware.twisted: true";
    }
};

TEST_F(SliceTwist, OnTheCommandLine) {
    const std::vector<std::string> collective{"--op", "all-gather", "--axes",
                                              "x",    "--bytes",    "1e9"};
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"topology"}, {"collective"}, {"init"}}) {
        const auto refused = [&](const std::string& slice, bool chip) {
            std::vector<std::string> arguments = command;
            arguments.insert(arguments.end(), {"--slice", slice});
            if (chip) {
                arguments.insert(arguments.end(), {"--chip", "v4p"});
            }
            if (command.front() == "init") {
                arguments.insert(arguments.end(), {"--model", "llama-3-8b"});
            }
            if (command.front() == "collective") {
                arguments.insert(arguments.end(), collective.begin(), collective.end());
            }
            const Outcome outcome = podsim(arguments);
            EXPECT_EQ(outcome.status, 2);
            return plain(outcome.err);
        };
        SCOPED_TRACE(command.front());
        EXPECT_EQ(refused("4x4x8_twisted", true),
                  "--slice 4x4x8_twisted: " + twisted("4x4x8") + "\n");
        EXPECT_EQ(refused("4x4x8_untwisted", true),
                  "--slice 4x4x8_untwisted: " + untwisted("4x4x8") + "\n");
        EXPECT_EQ(refused("v4-4x4x8_twisted", false),
                  "--slice v4-4x4x8_twisted: " + twisted("v4-4x4x8") + "\n");
        EXPECT_EQ(refused("v4-256_untwisted", false),
                  "--slice v4-256_untwisted: " + untwisted("v4-256") + "\n");
    }
}

TEST_F(SliceTwist, InAScenario) {
    const std::string rest = "model: llama-3-8b\nbatch: {tokens: 1Mi, sequence: 4096}\n";
    expect_refused("hardware: {chip: v4p, slice: 4x4x8_twisted}\n" + rest,
                   "s.yaml:1:30: hardware.slice: " + twisted("4x4x8"));
    expect_refused("hardware: {slice: v4-4x4x8_untwisted}\n" + rest,
                   "s.yaml:1:19: hardware.slice: " + untwisted("v4-4x4x8"));
}

}  // namespace
}  // namespace podsim::scenarios
