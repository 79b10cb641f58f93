// The glossary is one text: in docs/glossary.md, in `podsim help TERM` and on pages.
#include "scenarios/src/base/glossary.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

std::vector<std::string> rows_of_page() {
    std::ifstream page(std::string(source_folder()) + "/docs/glossary.md");
    std::vector<std::string> rows;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("| ") && line != "| term | meaning |") {
            rows.push_back(line);
        }
    }
    return rows;
}

TEST(Glossary, IsItsPage) {
    std::vector<std::string> rows;
    for (const Term& term : glossary()) {
        rows.push_back(fmt::format("| {} | {} |", term.name, term.meaning));
    }
    EXPECT_EQ(rows, rows_of_page());
}

TEST(Glossary, IsInAlphabeticalOrderAndEachMeaningIsASentence) {
    std::string before;
    for (const Term& term : glossary()) {
        std::string name(term.name);
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
        EXPECT_LT(before, name);
        EXPECT_TRUE(term.meaning.ends_with('.')) << term.name;
        before = name;
    }
}

TEST(Glossary, IsFoundInAnyCase) {
    ASSERT_NE(find_term("mfu"), nullptr);
    EXPECT_EQ(find_term("mfu"), find_term("MFU"));
    EXPECT_EQ(find_term("fsdp2"), nullptr);
}

class GlossaryHelp : public CommandTest {};

TEST_F(GlossaryHelp, PrintsTheMeaning) {
    EXPECT_EQ(podsim({"help", "BISECTION"}).out,
              fmt::format("bisection\n  {}\n", find_term("bisection")->meaning));
    // A word that is both: the term, then the key.
    EXPECT_THAT(
        podsim({"help", "mesh"}).out,
        testing::StartsWith(fmt::format("mesh\n  {}\n\nmesh\n", find_term("mesh")->meaning)));
    EXPECT_THAT(podsim({"help", "rooflin"}).err,
                testing::HasSubstr("no command, key or term is called 'rooflin'; did you mean "
                                   "'roofline'?"));
}

}  // namespace
}  // namespace podsim::scenarios
