// A search that ends early reports what it has found, and how much better another plan may be.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <optional>
#include <string>

#include "scenarios/src/cli/answer_search.h"
#include "scenarios/src/search/plan_work.h"
#include "scenarios/src/search/search_report.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/search/search_support.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

using SearchEnd = CommandTest;

// A search that ends at once has nothing; later it has the plans so far, and the possible gap.
TEST_F(SearchEnd, EndsEarlyWithWhatIsLeft) {
    const SearchSpace space(
        write(kSmallDense), {},
        {.over = {"mesh"}, .vary = {"training.remat=none,full", "overlap.prefetch_layers=1,2"}});
    int asked = 0;
    const SearchResult found =
        search(space, {.jobs = 1, .prunes = false, .stop = [&] { return ++asked > 12; }});
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.simulated, 12U);
    EXPECT_EQ(sum_of(found) + found.not_looked_at, found.enumerated);
    EXPECT_THAT(search_text(space, {"", found, {}}),
                HasSubstr(fmt::format(", 12 simulated, {} not looked at\n", found.not_looked_at)));
    EXPECT_EQ(found.likely_not_looked_at, found.not_looked_at);
    EXPECT_THAT(search_text(space, {"", found, {}}),
                HasSubstr("\nended early: the best is proven, those behind it are not\n"
                          "if all groups of a collective begin together, as they mostly do, 204 of "
                          "those not looked at may be among the answers\n"));
    const SearchResult all = search(space, {.jobs = 1});
    // No plan beats the best so far by more than the gap.
    EXPECT_GE(all.best.front().step_time.seconds() * (1 + found.gap),
              found.best.front().step_time.seconds());
}

// Bounding ends after some plans: the search returns the best of those, and how much better another
// may be by the FLOPs of its step.
TEST_F(SearchEnd, TriesWhatIsBoundedByThen) {
    const SearchSpace space(write(kSmallDense), {}, {.over = {"mesh"}});
    const SearchResult all = search(space, {.jobs = 1});
    int asked = 0;
    const SearchResult found =
        search(space, {.jobs = 1, .stop_bounding = [&] { return ++asked > 9; }});
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.enumerated, all.enumerated);
    EXPECT_GT(found.not_bounded, 0U);
    EXPECT_EQ(found.not_looked_at, found.not_bounded);
    EXPECT_EQ(sum_of(found) + found.not_bounded, found.enumerated);
    ASSERT_FALSE(found.best.empty());
    // Plans with the largest axes are bounded first, including the best.
    EXPECT_EQ(found.best.front().step_time, all.best.front().step_time);
    const FoundPlan& best = found.best.front();
    EXPECT_DOUBLE_EQ(found.gap, best.step_time.seconds() / least_time(best.facts).seconds() - 1);
    EXPECT_THAT(search_text(space, {"", found, {}}),
                HasSubstr(fmt::format("\nended early: of {} the FLOPs alone are known, so that "
                                      "another plan may be up to {:.1f} % better than the best\n",
                                      found.not_bounded, 100 * found.gap / (1 + found.gap))));
    const Json json = search_json(space, {"", found, {}});
    EXPECT_EQ(json["counts"]["not_bounded"], found.not_bounded);
    EXPECT_TRUE(json.contains("gap_fraction"));
    EXPECT_EQ(all.not_bounded, 0U);
}

// Plans that the found ones rule out count as pruned although they were never reached; the rest
// is open.
TEST_F(SearchEnd, CountsWhatIsProvenThoughItsTurnNeverCame) {
    const SearchSpace space(
        write(kSmallDense), {},
        {.over = {"mesh"}, .vary = {"training.remat=none,full", "overlap.prefetch_layers=1,2"}});
    const SearchResult all = search(space, {.jobs = 1});
    std::uint64_t open = all.enumerated;
    std::uint64_t likely_open = all.enumerated;
    bool unlikely_alone_open = false;  // the likely ones come first
    std::uint64_t proven_unseen = 0;
    SearchResult found;
    found.complete = false;
    for (std::uint64_t most = 8; !found.complete; most += 8) {
        std::uint64_t asked = 0;
        found = search(space, {.jobs = 1, .stop = [&] { return ++asked > most; }});
        ASSERT_EQ(sum_of(found) + found.not_looked_at, found.enumerated);
        ASSERT_LE(found.not_looked_at, open) << most;
        ASSERT_LE(found.likely_not_looked_at, likely_open) << most;
        ASSERT_LE(found.likely_not_looked_at + found.not_outlined, found.not_looked_at);
        likely_open = found.likely_not_looked_at;
        unlikely_alone_open = unlikely_alone_open || (likely_open == 0 && open > 0);
        open = found.not_looked_at;
        const std::uint64_t to_look_at = all.enumerated - all.refused_in_all() - all.unfit;
        const std::uint64_t looked_at_or_open = most + open;
        proven_unseen =
            std::max(proven_unseen, to_look_at - std::min(to_look_at, looked_at_or_open));
        ASSERT_LT(most, 10 * all.enumerated);
    }
    EXPECT_GT(proven_unseen, all.pruned / 2);
    EXPECT_TRUE(unlikely_alone_open);
    EXPECT_EQ(sum_of(found), sum_of(all));
    EXPECT_EQ(found.simulated, all.simulated);
    EXPECT_EQ(found.pruned, all.pruned);
    EXPECT_EQ(found.best.front().step_time, all.best.front().step_time);
}

/// Asks to stop while the search reports its progress.
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

// A stop like Ctrl-C loses no results, neither while candidates are simulated nor while the best
// are examined again.
TEST_F(SearchEnd, KeepsWhatItHasFoundWhenItIsStopped) {
    const SearchSpace space(
        write(kSmallDense), {},
        {.over = {"mesh"}, .vary = {"training.remat=none,full", "overlap.prefetch_layers=1,2"}});
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

/// Works by itself, and counts the work it receives after the watch was asked to stop.
class CountingCrew final : public Crew {
public:
    CountingCrew(const SearchSpace& space, Watch& watch) : watch_(watch), work_(space, &watch) {}

    void run(std::size_t first, std::size_t count, const Piece& piece, const Done& done,
             const std::function<bool()>& stop, std::size_t /*waiting*/) override {
        for (std::size_t i = first; i < count && !stop(); ++i) {
            const std::optional<std::string> what = piece(i);
            if (what && watch_.stop_token().stop_requested()) {
                ++begun_after_stop;
            }
            done(i, what ? work_.work(*what) : "");
        }
    }

    int begun_after_stop = 0;

private:
    Watch& watch_;
    PlanWork work_;
};

// The caller's `stop` never holds; it only ends its watch. The first run that then begins ends
// the search.
TEST_F(SearchEnd, TriesNothingMoreOnceARunWasStopped) {
    const SearchSpace space(write(kSmallDense), {}, {.over = {"mesh", "remat"}});
    StoppingWatch early(Phase::searching);
    CountingCrew crew(space, early);
    const SearchResult found =
        search(space, {.jobs = 1, .crew = &crew, .prunes = false, .watch = &early});
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(crew.begun_after_stop, 1);
}

// Bounding also ends, in the middle of a class.
TEST_F(SearchEnd, BoundsNothingMoreOnceItWasStopped) {
    const SearchSpace space(write(kSmallDense), {}, {.over = {"mesh"}});
    StoppingWatch early(Phase::bounding);
    early.request_stop();
    PlanWork work(space, &early);
    const std::string result = work.work(PlanWork::to_bound(0, 0));
    EXPECT_THROW(static_cast<void>(PlanWork::bounded(result)), Stopped);
    EXPECT_THROW(static_cast<void>(search(space, {.jobs = 1, .watch = &early})), Stopped);
}

// A millisecond has passed when the first plans are bounded and one is simulated: the plans found
// by then are the answer, not a failure.
TEST_F(SearchEnd, EndsInTime) {
    const std::string file = write(kSmallDense);
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
    EXPECT_GT(found["counts"]["not_bounded"], 0);
    EXPECT_THAT(with({"--seconds", "0.001"}).out, HasSubstr("ended early: of "));
    const auto whole = nlohmann::json::parse(with({"--json", "-"}).out);
    EXPECT_LT(found["counts"]["simulated"], whole["counts"]["simulated"]);
    EXPECT_EQ(nlohmann::json::parse(with({"--seconds", "3600", "--json", "-"}).out), whole);
    EXPECT_EQ(with({"--seconds", "0"}).err,
              "--seconds 0: out of range; write seconds, from 0.001 to a year\n");
}

}  // namespace
}  // namespace podsim::scenarios
