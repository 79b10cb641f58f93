// Helps are no wider than their terminal, tables included.
#include "scenarios/src/cli/help_text.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

TEST(HelpText, TablesThatAreTooWideSayTheirLastFieldBelow) {
    const std::string table =
        "  key    written  meaning\n"
        "  slice  4x4x4    chips along x, y and z\n"
        "    host  2x2x1   chips of one host\n";
    EXPECT_EQ(filled_text(table, 45), table);
    EXPECT_EQ(filled_text(table, 30),
              "  key  written\n"
              "        meaning\n"
              "  slice  4x4x4\n"
              "        chips along x, y and z\n"
              "    host  2x2x1\n"
              "          chips of one host\n");
    // Fields that fill a line leave no blank at its end.
    EXPECT_EQ(filled_text("  key  written  meaning of it all\n", 13),
              "  key\n"
              "        written\n"
              "        meaning\n"
              "        of it\n"
              "        all\n");
}

using HelpTest = CommandTest;

TEST_F(HelpTest, OfRunFitsOnAScreenAndNamesTheListOfKeys) {
    const std::string help = podsim({"run", "--help"}).out;
    EXPECT_LE(std::ranges::count(help, '\n'), 60);
    EXPECT_NE(help.find("`podsim help keys`"), std::string::npos);
    EXPECT_NE(podsim({"help", "keys"}).out.find("prefetch_layers"), std::string::npos);
    EXPECT_EQ(podsim({"-h"}).out, podsim({"--help"}).out);
}

TEST_F(HelpTest, IsAsWideAsItsTerminal) {
    std::istringstream lines(podsim({"run", "--help"}).out);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  podsim ")) {
            continue;  // an example is a line to copy
        }
        EXPECT_LE(line.size(), static_cast<std::size_t>(kHelpWidth)) << line;
    }
}

}  // namespace
}  // namespace podsim::scenarios
