// A plan within the account's own uncertainty of the capacity counts as fitting, with a mark;
// proofs about other plans stay valid.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/search/answers.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TightPlans : public CommandTest {
protected:
    /// Writes a scenario with that capacity in bytes. Nothing is gathered ahead, so a plan holds
    /// the same at any capacity.
    [[nodiscard]] std::string scenario_with(double capacity) const {
        return write(fmt::format(
            "hardware: {{chip: {{base: v5e, hbm_capacity: {:.0f} B, hbm_reserved: 0 B}}, slice: "
            "2x4}}\n"
            "model: {{base: llama-3-8b, layers: 2}}\nbatch: {{tokens: 64Ki, sequence: 4096}}\n"
            "mesh: {{fsdp: x y}}\noverlap: {{prefetch_layers: 0}}\n",
            capacity));
    }
    [[nodiscard]] Outcome search(double capacity, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> args{"search", scenario_with(capacity), "--no-explain", "--vary",
                                      "training.remat=none,full"};
        args.insert(args.end(), more.begin(), more.end());
        return podsim(args);
    }
    [[nodiscard]] nlohmann::json found(double capacity, std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--json", "-"});
        return nlohmann::json::parse(search(capacity, more).out);
    }
    /// Returns the peak of the faster plan, which keeps all, on a chip with room.
    [[nodiscard]] double peak() const {
        const auto best = found(1e12)["best"];
        EXPECT_EQ(best[0]["set"][0], "training.remat=none");
        EXPECT_GT(best[0]["peak_bytes"], 1.2 * best[1]["peak_bytes"].get<double>());
        return best[0]["peak_bytes"];
    }
};

// The account is accurate to 5 % of the capacity (simulate/memory.h), above and below.
TEST_F(TightPlans, CountWithAMark) {
    const double held = peak();
    for (const auto& [times, fits, tight] : {std::tuple{1.06, false, false},
                                             {1.04, true, true},
                                             {0.96, true, true},
                                             {0.94, true, false}}) {
        SCOPED_TRACE(times);
        const auto json = found(held / times);
        ASSERT_EQ(json["best"].size(), fits ? 2U : 1U);
        EXPECT_EQ(json["counts"]["unfit"], fits ? 0 : 1);
        EXPECT_EQ(json["best"][0]["tight"], tight);
        EXPECT_EQ(json["best"].back()["tight"], false);
        const std::string mark = fmt::format("tight {:.0f} %", 100 * times);
        EXPECT_EQ(search(held / times).out.find(mark) != std::string::npos, tight);
    }
    // A requested margin, even of 0 %, applies to the account as it stands.
    const std::vector<std::string> none{"--set", "search.memory_margin=0 %"};
    EXPECT_EQ(found(held / 1.04, none)["best"].size(), 1U);
    EXPECT_EQ(found(held / 0.96, none)["best"].size(), 2U);
    EXPECT_EQ(found(held / 0.96, {"--set", "search.memory_margin=5 %"})["best"].size(), 1U);
}

TEST_F(TightPlans, AreMarkedWhereverTheyAreSaid) {
    const Outcome outcome = search(
        peak() / 1.04, {"--jsonl", path("record"), "--write", path("best.yaml"), "--jobs", "1"});
    EXPECT_THAT(outcome.out, HasSubstr(" a chip, tight\n"));
    EXPECT_THAT(outcome.out, HasSubstr("tight: within the 5 % of the capacity that the account of "
                                       "memory is true to, so that such a plan may not fit\n"
                                       "The best that fits for sure: "));
    const auto text = [&](const std::string& name) {
        std::ifstream file(path(name), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    EXPECT_THAT(text("best.yaml"), HasSubstr(" a step, tight: it may not fit\n"));
    EXPECT_THAT(text("best-2.yaml"), Not(HasSubstr("tight")));
    std::size_t marked = 0;
    std::istringstream lines(text("record"));
    for (std::string line; std::getline(lines, line);) {
        const auto read = nlohmann::json::parse(line);
        EXPECT_EQ(read.contains("tight"), read["set"][0] == "training.remat=none");
        marked += read.contains("tight") ? 1 : 0;
    }
    EXPECT_EQ(marked, 1U);
    // The record is read back as written.
    EXPECT_EQ(search(peak() / 1.04, {"--jsonl", path("record"), "--json", "-"}).out,
              search(peak() / 1.04, {"--json", "-"}).out);
}

// A plan that surely fits precedes a tight one that is equally good, wherever they are in the
// space. No bound rules out a plan that may win such a tie.
TEST_F(TightPlans, LoseTies) {
    SearchSpec spec;
    Answers answers(spec);
    const auto facts = [](double least_peak) {
        return PlanFacts{.least_peak = least_peak, .capacity = 100, .chips = 4, .tokens = 8};
    };
    for (std::uint64_t place = 0; place < kMostNear; ++place) {
        answers.add({{}, facts(50), sim::Time{1000}, 101, place});
    }
    EXPECT_TRUE(answers.best().front().tight());
    // It is first, and no worse in anything that the front compares; yet the next may be the
    // second best.
    answers.add({{}, facts(40), sim::Time{1000}, 40, 50});
    EXPECT_EQ(answers.best().front().place, 50U);
    const Candidate last{.bound = sim::Time{1000}, .mesh = 99};
    EXPECT_FALSE(answers.is_useless(facts(50), last));
    EXPECT_FALSE(answers.is_useless(facts(94), last));
    EXPECT_TRUE(answers.is_useless(facts(101), last));
    EXPECT_TRUE(answers.is_useless(facts(94), {.bound = sim::Time{1300}, .mesh = 99}));
    answers.add({last, facts(50), sim::Time{1000}, 94, 99});
    EXPECT_EQ(answers.best()[1].place, 99U);
    answers.add({{}, facts(50), sim::Time{999}, 104, 100});
    EXPECT_EQ(answers.best().front().place, 100U);
}

}  // namespace
}  // namespace podsim::scenarios
