// A search finds what trying everything finds, and says so whatever the number of threads.
#include "scenarios/search/search.h"

#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

#include "scenarios/commands/answer_search.h"
#include "scenarios/load/load.h"
#include "scenarios/search/search_report.h"
#include "scenarios/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

class SearchTest : public CommandTest {
protected:
    static void expect_same(const std::vector<FoundPlan>& one,
                            const std::vector<FoundPlan>& other) {
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
            EXPECT_EQ(one[i].place, other[i].place);
            EXPECT_EQ(one[i].step_time, other[i].step_time);
            EXPECT_EQ(one[i].peak, other[i].peak);
        }
    }
    static std::uint64_t sum_of(const SearchResult& result) {
        return result.refused_in_all() + result.unfit + result.pruned + result.simulated;
    }
    /// And says so whatever the number of threads. What trying everything comes to.
    static SearchResult expect_what_trying_everything_finds(const SearchSpace& space) {
        SearchResult all = search(space, {.jobs = 2, .prunes = false});
        const SearchResult found = search(space, {.jobs = 2});
        EXPECT_LE(found.simulated, all.simulated);
        EXPECT_EQ(sum_of(all), all.enumerated);
        EXPECT_EQ(sum_of(found), all.enumerated);
        EXPECT_GE(found.pruned, found.pruned_while_simulated);
        expect_same(found.best, all.best);
        expect_same(found.near, all.near);
        expect_same(found.front, all.front);
        for (const int jobs : {1, 4}) {
            const SearchResult again = search(space, {.jobs = jobs});
            EXPECT_EQ(search_json(space, {"", again, {}}).dump(),
                      search_json(space, {"", found, {}}).dump());
        }
        return all;
    }
};

struct Space {
    const char* text;
    std::vector<std::string> over;
    std::vector<std::string> vary;
};

// Dense and with experts, rings and lines, several slices, a machine with a fault, memory that is too small for some.
const std::vector<Space> kSpaces{
    {"hardware: {chip: v5p, slice: 2x2x4}\nmodel: {base: llama-3-8b, layers: 16}\n"
     "batch: {tokens: 64Ki, sequence: 4096}\n",
     {"mesh"},
     {"training.remat=none,full", "overlap.prefetch_layers=1,2"}},
    {"hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 3}\n"
     "batch: {tokens: 128Ki, sequence: 4096}\nsearch: {memory_margin: 30 %}\n",
     {"mesh"},
     {"overlap.tensor=blocking,two-way", "training.remat=none,minimal"}},
    {"hardware: {chip: v5p, slice: 2x2x1, slices: 2}\nmodel: {base: mixtral-8x7b, layers: 2}\n"
     "batch: {tokens: 32Ki, sequence: 4096}\nreport: {tokens: 1T, price: 4 USD/chip-hour}\n"
     "search: {objective: cost}\n",
     {"mesh"},
     {"batch.tokens=32Ki,64Ki"}},
    {"hardware: {chip: v5p, slice: 4x4x4}\nmodel: {base: llama-3-8b, layers: 2}\n"
     "batch: {tokens: 256Ki, sequence: 4096}\n"
     "search: {objective: chips, deadline: 400 ms, mesh: {fsdp: any, tensor: [1, 2, 4]}}\n",
     {"mesh"},
     {"hardware.slice=2x2x4,2x4x4,4x4x4"}},
    {"hardware: {chip: v5p, slice: 2x2x4}\nmodel: {base: llama-3-8b, layers: 2}\n"
     "batch: {tokens: 64Ki, sequence: 4096}\nmesh: {fsdp: x y z}\n"
     "perturb: [{kind: slow_link, z: 1, link: z, rate: 50 %}]\nsearch: {objective: mfu}\n",
     {"mesh"},
     {}},
};

TEST_F(SearchTest, FindsWhatTryingEverythingFinds) {
    for (std::size_t i = 0; i < kSpaces.size(); ++i) {
        SCOPED_TRACE(i);
        const SearchSpace space(write(kSpaces[i].text), {},
                                {.over = kSpaces[i].over, .vary = kSpaces[i].vary});
        const SearchResult all = expect_what_trying_everything_finds(space);
        EXPECT_GT(all.simulated, 15U);
        // Not even when everything is tried are plans beyond the deadline among the answers.
        EXPECT_EQ(all.pruned > 0, i == 3);
        EXPECT_EQ(all.pruned_while_simulated, 0U);
    }
}

// Small slices, tori and lines; dense models and those with experts; batches that fit and that do not; whatever varies.
TEST_F(SearchTest, FindsWhatTryingEverythingFindsInRandomSpaces) {
    std::mt19937_64 random(20261125);
    const auto one_of = [&](const std::vector<std::string>& texts) {
        return texts[random() % texts.size()];
    };
    std::uint64_t left_out = 0;
    for (int round = 0; round < 10; ++round) {
        const bool v5e = random() % 3 == 0;
        // Of v4p slices below 4x4x4 no axis wraps.
        const bool v4p = !v5e && round % 2 == 1;
        const std::string text = fmt::format(
            "hardware: {{chip: {}, slice: {}}}\nmodel: {{base: {}, layers: {}}}\n"
            "batch: {{tokens: {}, sequence: 4096}}\n"
            "report: {{tokens: 1T, price: 4 USD/chip-hour}}\nsearch: {{objective: {}}}\n",
            v5e   ? "v5e"
            : v4p ? "v4p"
                  : "v5p",
            v5e ? one_of({"2x4", "4x4"}) : one_of({"2x2x2", "2x2x4", "4x2x1"}),
            one_of({"llama-3-8b", "mixtral-8x7b", "gemma-2b"}), 1 + random() % 3,
            one_of({"32Ki", "64Ki", "128Ki"}), one_of({"step_time", "mfu", "cost"}));
        std::vector<std::string> vary{
            one_of({"training.remat=none,full", "training.remat=none,minimal",
                    "overlap.tensor=blocking,two-way", "overlap.tensor=one-way,two-way"})};
        if (random() % 2 == 0) {
            vary.push_back(one_of({"overlap.prefetch_layers=1,2", "overlap.weights=layer,block"}));
        }
        SCOPED_TRACE(text + vary.front());
        const SearchSpace space(write(text), {}, {.over = {"mesh"}, .vary = vary});
        left_out += expect_what_trying_everything_finds(space).simulated;
    }
    EXPECT_GT(left_out, 500U);
}

// The best is what is said of it: its scenario has that step time.
TEST_F(SearchTest, SaysWhatItsPlansTake) {
    const std::string file = write(kSpaces[0].text);
    const SearchSpace space(file, {}, {.over = {"mesh"}, .vary = kSpaces[0].vary});
    const SearchResult found = search(space, {.jobs = 2});
    ASSERT_EQ(found.best.size(), kBest);
    for (const FoundPlan& plan : found.best) {
        const StepResult result =
            simulate_step(load_scenario(file, space.set(plan.facts, plan.candidate)),
                          Fold::automatic, {.explain = false});
        EXPECT_EQ(result.step_time, plan.step_time);
        EXPECT_EQ(result.memory.peak.value(), plan.peak);
        EXPECT_DOUBLE_EQ(result.mfu, plan.mfu());
        EXPECT_DOUBLE_EQ(result.tokens_per_s, plan.tokens_per_s());
        EXPECT_LE(plan.candidate.bound, result.step_time);
    }
}

// Ended at once it has nothing; later what was found, and what may be missing.
TEST_F(SearchTest, EndsEarlyWithWhatIsLeft) {
    const SearchSpace space(write(kSpaces[0].text), {},
                            {.over = {"mesh"}, .vary = kSpaces[0].vary});
    int asked = 0;
    const SearchResult found =
        search(space, {.jobs = 1, .prunes = false, .stop = [&] { return ++asked > 12; }});
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.simulated, 12U);
    EXPECT_EQ(sum_of(found) + found.not_looked_at, found.enumerated);
    EXPECT_THAT(search_text(space, {"", found, {}}),
                HasSubstr(fmt::format(", 12 simulated, {} not looked at\n", found.not_looked_at)));
    const SearchResult all = search(space, {.jobs = 1});
    // No plan beats the best so far by more than the gap.
    EXPECT_GE(all.best.front().step_time.seconds() * (1 + found.gap),
              found.best.front().step_time.seconds());
}

/// Is asked to stop while the search says how far it is.
class StoppingWatch final : public Watch {
public:
    explicit StoppingWatch(Phase phase) : phase_(phase) {}

private:
    void hear(const PhaseProgress& progress) override {
        if (progress.phase == phase_ && ++heard_ > 3) {
            request_stop();
        }
    }
    const Phase phase_;
    std::atomic<int> heard_ = 0;
};

// As Ctrl-C does it: what was found is not lost, neither while candidates are simulated nor while the best are looked at again.
TEST_F(SearchTest, KeepsWhatItHasFoundWhenItIsStopped) {
    const SearchSpace space(write(kSpaces[0].text), {},
                            {.over = {"mesh"}, .vary = kSpaces[0].vary});
    StoppingWatch early(Phase::searching);
    const SearchResult found =
        search(space, {.jobs = 2, .prunes = false, .watch = &early, .stop = [&] {
                           return early.stop_token().stop_requested();
                       }});
    EXPECT_FALSE(found.complete);
    EXPECT_GE(found.simulated, 3U);
    EXPECT_FALSE(found.best.empty());
    Usage options = search_usage();
    options.parse(std::vector<std::string>{"x.yaml"});
    StoppingWatch late(Phase::explaining);
    const SearchAnswer answer = answer_search(options, space, &late, [] { return false; });
    EXPECT_TRUE(answer.result.complete);
    EXPECT_EQ(answer.result.best.size(), kBest);
    EXPECT_FALSE(answer.runners_up.has_value());
}

// Which slices an axis spans decides whether a plan can run, and how: meshes of equal sizes are not alike.
TEST_F(SearchTest, TellsMeshesApartByTheirSlices) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x1, slices: 2}\n"
        "model: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n"
        "overlap: {tensor: two-way}\n");
    const SearchSpace space(file, {}, {.over = {"mesh"}});
    const SearchResult all = search(space, {.jobs = 2, .prunes = false});
    EXPECT_EQ(sum_of(all), all.enumerated);
    std::uint64_t refused = 0;
    for (const char* const mesh : {"{data: slice, tensor: x y}", "{data: x, tensor: y slice}",
                                   "{data: x y, tensor: slice}"}) {
        refused +=
            podsim({"check", file, "--set", std::string("mesh=") + mesh}).status == 2 ? 1 : 0;
    }
    EXPECT_EQ(refused, 2U);
    const auto reason = all.refused.find(
        "overlap.tensor: the axis tensor has members in several slices, between which there are no "
        "ring "
        "steps");
    ASSERT_NE(reason, all.refused.end());
    // Of 2 x 2 chips 4 x 4 rows for four axes; tensor spans the slices in a quarter of the meshes.
    EXPECT_EQ(all.enumerated, 64U);
    EXPECT_EQ(reason->second, 16U);
}

TEST_F(SearchTest, Command) {
    const std::string file = write(kSpaces[0].text);
    const std::vector<std::string> args{
        "search", file, "--over", "mesh", "--vary", "training.remat=none,full", "--jobs", "2"};
    std::vector<std::string> more = args;
    more.insert(more.end(), {"--json", "-", "--write", path("best.yaml")});
    const Outcome outcome = podsim(more);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["kind"], "search");
    EXPECT_EQ(json["best"].size(), 10U);
    for (const std::size_t place : {0U, 9U}) {
        const std::string name = place == 0 ? "best.yaml" : "best-10.yaml";
        const Outcome run = podsim({"run", path(name), "--no-explain", "--json", "-"});
        ASSERT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(nlohmann::json::parse(run.out)["step_time_s"],
                  json["best"][place]["step_time_s"]);
    }
    const Outcome text = podsim(args);
    EXPECT_THAT(text.out, HasSubstr("nothing is left out without a proof"));
    EXPECT_THAT(text.out, HasSubstr("Why the second takes longer: its critical path"));
}

// A millisecond is over when the first candidate has been simulated: what was found by then is the answer, and no failure.
TEST_F(SearchTest, EndsInTime) {
    const std::string file = write(kSpaces[0].text);
    const std::vector<std::string> args{"search", file, "--over", "mesh,remat", "--jobs", "1"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), args.begin(), args.end());
        return podsim(more);
    };
    const Outcome early = with({"--seconds", "0.001", "--json", "-"});
    ASSERT_EQ(early.status, 0) << early.err;
    const auto found = nlohmann::json::parse(early.out);
    EXPECT_FALSE(found["complete"].get<bool>());
    ASSERT_FALSE(found["best"].empty());
    ASSERT_TRUE(found.contains("gap_fraction"));
    EXPECT_THAT(with({"--seconds", "0.001"}).out, HasSubstr("ended early: "));
    const auto whole = nlohmann::json::parse(with({"--json", "-"}).out);
    EXPECT_LT(found["counts"]["simulated"], whole["counts"]["simulated"]);
    // None is better by more than was said.
    EXPECT_GE(
        whole["best"][0]["step_time_s"].get<double>(),
        found["best"][0]["step_time_s"].get<double>() * (1 - found["gap_fraction"].get<double>()));
    EXPECT_EQ(nlohmann::json::parse(with({"--seconds", "3600", "--json", "-"}).out), whole);
    EXPECT_EQ(with({"--seconds", "0"}).err,
              "--seconds 0: out of range; write seconds, from 0.001 to a year\n");
}

// Tokens and chips are the same in all, so that steps alone count.
TEST_F(SearchTest, SaysWhatLiesWithinTheErrorOfADifference) {
    const std::string file = write(kGood);
    const std::vector<std::string> args{"search", file, "--vary",
                                        "training.remat=none,minimal,full", "--no-explain"};
    const auto best_of = [&](std::vector<std::string> more) {
        more.insert(more.begin(), args.begin(), args.end());
        more.insert(more.end(), {"--json", "-"});
        return nlohmann::json::parse(podsim(more).out)["best"];
    };
    const auto best = best_of({});
    ASSERT_EQ(best.size(), 3U);
    std::size_t within = 0;
    for (const auto& plan : best) {
        const double ratio =
            plan["step_time_s"].get<double>() / best[0]["step_time_s"].get<double>();
        EXPECT_EQ(plan["within_ratio_error"], std::log(ratio) <= 0.049) << ratio;
        within += plan["within_ratio_error"].get<bool>() ? 1 : 0;
    }
    EXPECT_LT(within, 3U);
    EXPECT_THAT(podsim(args).out,
                HasSubstr(fmt::format("Of the 3 above, {} lie within 4.9 % of the best", within)));
    // Published steps say nothing of another profile.
    EXPECT_FALSE(best_of({"--set", "hardware.profile=ideal"})[0].contains("within_ratio_error"));
}

TEST_F(SearchTest, RefusesWhatItCannotSearch) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x4}\nmodel: llama-3-8b\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n");
    const auto expect = [&](const std::vector<std::string>& more, const std::string& message) {
        std::vector<std::string> args{"search", file};
        args.insert(args.end(), more.begin(), more.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.err, message + '\n');
    };
    expect({"--over", "mesh,remt"},
           "--over: unknown name of what a search goes over 'remt'; did you mean 'remat'? allowed: "
           "mesh, slice, remat, prefetch, overlap, weights, schedule, microbatches");
    expect(
        {"--set", "search.objective=cost"},
        file +
            ": a cost is asked for, but no price is known; write report: {tokens: 15T, price: 4.20 "
            "USD/chip-hour}");
    expect(
        {"--set", "search.objective=chips"},
        file + ": the fewest chips are asked for, but not for what; write search: {deadline: 2 s}");
    expect(
        {"--over", "remat", "--vary", "training.remat=full"},
        "--vary: 'training.remat' is varied twice; leave it out of --over, or give all its values "
        "in one --vary");
    expect({"--over", "mesh", "--vary", "mesh={fsdp: x y z}"},
           "--vary: 'mesh' is varied twice; leave mesh out of --over, or out of --vary");
    expect({"--over", "mesh", "--vary", "search.deadline=1 s,2 s"},
           "--vary: 'search.deadline' is what a search is asked for, and does not vary; give its "
           "value with --set, and search once for each");
    expect({"--set", "search.mesh.tensr=any"},
           "--set search.mesh.tensr=any: unknown search.mesh key 'tensr'; did you mean 'tensor'? "
           "allowed: data, fsdp, context, tensor, tensor_transpose, cache, pipeline, expert");
    expect({"--vary", "batch.tokns=1Mi"},
           "--vary batch.tokns=1Mi: unknown batch key 'tokns'; did you mean 'tokens'? allowed: "
           "tokens, sequence");
    expect({"--set", "search.mesh={tensor: 0}"},
           "--set search.mesh={tensor: 0}: search.mesh.tensor: 0 ways; write sizes from 1 to "
           "100000");
}

// `mesh: auto` is a question, which a run does not answer.
TEST_F(SearchTest, FindsTheMeshThatIsAuto) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x4}\n"
        "model: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 64Ki, sequence: 4096}\nmesh: auto\n");
    EXPECT_EQ(podsim({"run", file}).err,
              file +
                  ":4:7: 'mesh' is auto, which is for a search to find; podsim search FILE finds "
                  "the best; to run one, write mesh: {fsdp: x y, tensor: z}\n");
    const Outcome outcome = podsim({"search", file, "--json", "-", "--no-explain"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    // 3 of a row of 2, twice, 9 of 4.
    EXPECT_EQ(json["counts"]["enumerated"], 81);
}

}  // namespace
}  // namespace podsim::scenarios
