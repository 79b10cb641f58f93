#include "scenarios/src/cli/look.h"

#include <gtest/gtest.h>
#include <sstream>

namespace podsim::scenarios {
namespace {

constexpr const char* kReport =
    "A step of 8 chips\n"
    "  model  llama\n"
    "\n"
    "Step time 1 s, published ones ±20 %\n"
    "  bound by compute: no schedule of these operations takes less\n"
    "    --set 'mesh={fsdp: x y z, context: a very long one}'\n"
    "\n"
    "Gap                       ms  of gap  and more beyond the width\n"
    "  does NOT fit: 3 GB\n";

TEST(Look, WithoutATerminalNothingChanges) {
    EXPECT_EQ(shown(kReport, {}), kReport);
    std::ostringstream out;
    EXPECT_EQ(look_of(out).width, 0);
    EXPECT_FALSE(look_of(out).colour);
}

// ± is one column: the line of 35 columns (36 bytes) stays whole.
TEST(Look, WordsGoOnBelowTablesStay) {
    EXPECT_EQ(shown(kReport, {.width = 35}),
              "A step of 8 chips\n"
              "  model  llama\n"
              "\n"
              "Step time 1 s, published ones ±20 %\n"
              "  bound by compute: no schedule of\n"
              "    these operations takes less\n"
              "    --set 'mesh={fsdp: x y z, context: a very long one}'\n"
              "\n"
              "Gap                       ms  of gap  and more beyond the width\n"
              "  does NOT fit: 3 GB\n");
}

TEST(Look, HeadingsAndWhatDoesNotFitStandOut) {
    EXPECT_EQ(
        shown("A step\n  model  llama\n\nGap    ms\n  does NOT fit: 3 GB\n", {.colour = true}),
        "\x1b[1mA step\x1b[0m\n  model  llama\n\n\x1b[1mGap\x1b[0m    ms\n"
        "  \x1b[31mdoes NOT fit: 3 GB\x1b[0m\n");
}

}  // namespace
}  // namespace podsim::scenarios
