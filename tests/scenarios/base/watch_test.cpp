// The progress that a watch receives. Every phase of a simulation stops when asked to.
#include "scenarios/src/base/watch.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "scenarios/src/advise/what_if.h"
#include "scenarios/src/base/run_limit.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/study/calibrate.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

/// Records progress, and asks to stop at the first report of a phase.
class Listener : public Watch {
public:
    Listener() = default;
    explicit Listener(Phase stop_at) : stop_at_(stop_at) {}

    [[nodiscard]] std::vector<PhaseProgress> heard() const { return heard_; }
    /// Phases in order of their first report.
    [[nodiscard]] std::vector<Phase> phases() const {
        std::vector<Phase> phases;
        for (const PhaseProgress& one : heard_) {
            if (std::ranges::find(phases, one.phase) == phases.end()) {
                phases.push_back(one.phase);
            }
        }
        return phases;
    }

private:
    void hear(const PhaseProgress& progress) override {
        const std::lock_guard lock(mutex_);
        heard_.push_back(progress);
        if (progress.phase == stop_at_) {
            request_stop();
        }
    }

    std::optional<Phase> stop_at_;
    std::mutex mutex_;
    std::vector<PhaseProgress> heard_;
};

Scenario small_step() {
    return samples::make_scenario("v5p", {4, 4, 1}, samples::small_model(2),
                                  {{"fsdp", "x"}, {"tensor", "y"}}, 16, 512);
}

TEST(Watch, PassesNewsOnAndThrowsOnceAskedToStop) {
    Listener watch;
    EXPECT_FALSE(watch.stop_token().stop_requested());
    EXPECT_NO_THROW(watch.tell({.phase = Phase::simulating, .share = 0.5, .events = 7}));
    ASSERT_EQ(watch.heard().size(), 1U);
    EXPECT_EQ(watch.heard()[0].share, 0.5);
    EXPECT_EQ(watch.heard()[0].events, 7U);
    watch.request_stop();
    EXPECT_TRUE(watch.stop_token().stop_requested());
    try {
        watch.tell({.phase = Phase::explaining, .events = 8});
        FAIL() << "it goes on";
    } catch (const Stopped& stopped) {
        EXPECT_EQ(stopped.reached().phase, Phase::explaining);
        EXPECT_EQ(stopped.reached().events, 8U);
        EXPECT_STREQ(stopped.what(), "stopped while explaining");
    }
    EXPECT_EQ(watch.heard().size(), 2U);
}

TEST(Watch, OfAPhaseCallsEverythingThatPhase) {
    Listener outer;
    PhaseWatch inner(&outer, Phase::calibrating);
    inner.tell(
        {.phase = Phase::building, .share = 0.25, .simulated = {3}, .events = 1, .all_events = 4});
    ASSERT_EQ(outer.heard().size(), 1U);
    EXPECT_EQ(outer.heard()[0].phase, Phase::calibrating);
    EXPECT_EQ(outer.heard()[0].share, 0.25);
    EXPECT_EQ(outer.heard()[0].simulated.ps, 3);
    EXPECT_EQ(outer.heard()[0].events, 1U);
    EXPECT_EQ(outer.heard()[0].all_events, 4U);
    inner.request_stop();  // one request for both
    EXPECT_TRUE(outer.stop_token().stop_requested());
    EXPECT_THROW(inner.tell({}), Stopped);
    PhaseWatch nobody(nullptr, Phase::building);
    EXPECT_NO_THROW(nobody.tell({}));
    EXPECT_NO_THROW(tell(nullptr, Phase::building));
    EXPECT_NO_THROW(tell_reached(nullptr, {}));
}

TEST(Watch, OfPiecesKeepsTheirNewsAndSharesTheWish) {
    Listener outer;
    QuietWatch pieces(&outer);
    EXPECT_NO_THROW(pieces.tell({.phase = Phase::simulating, .share = 0.5}));
    EXPECT_TRUE(outer.heard().empty());
    outer.request_stop();
    EXPECT_THROW(pieces.tell({}), Stopped);
    QuietWatch nobody(nullptr);
    EXPECT_NO_THROW(nobody.tell({}));
}

/// The limited run ends; neither runs beside it nor phases before its events do.
TEST(Watch, EndsARunThatBecomesTooLong) {
    Listener outer;
    const auto progress = [](std::uint64_t all, std::uint64_t played) {
        return PhaseProgress{
            .phase = Phase::simulating, .all_events = all, .played_events = played};
    };
    RunLimit limit(outer, 1000, 100);
    EXPECT_NO_THROW(limit.tell(progress(1000, 100)));
    EXPECT_NO_THROW(limit.tell({.phase = Phase::choosing_algorithms, .played_events = 101}));
    EXPECT_FALSE(limit.exceeded());
    EXPECT_EQ(limit.played(), 100U);
    EXPECT_THROW(limit.tell(progress(1000, 101)), Stopped);
    EXPECT_TRUE(limit.exceeded());
    EXPECT_EQ(limit.played(), 101U);
    RunLimit large(outer, 1000, 100);
    EXPECT_THROW(large.tell(progress(1001, 0)), Stopped);
    EXPECT_TRUE(large.exceeded());
    EXPECT_EQ(outer.heard().size(), 4U);
    EXPECT_FALSE(outer.stop_token().stop_requested());
    RunLimit stopped(outer, RunLimit::kNone, RunLimit::kNone);
    RunLimit in_pieces(outer, RunLimit::kNone, RunLimit::kNone);
    QuietWatch piece(&in_pieces);
    EXPECT_NO_THROW(piece.tell(progress(1, 1)));
    outer.request_stop();
    EXPECT_THROW(stopped.tell(progress(1, 1)), Stopped);
    EXPECT_THROW(piece.tell(progress(1, 1)), Stopped);
    EXPECT_FALSE(stopped.exceeded() || in_pieces.exceeded());
}

TEST(Watch, HearsWhichShareOfARunIsDone) {
    Listener watch;
    tell_reached(&watch, {.now = {5}, .events = 30, .all_events = 120, .played = 20});
    // If everything repeats, a run counts more events than it has announced.
    tell_reached(&watch, {.now = {6}, .events = 130, .all_events = 120});
    tell_reached(&watch, {.now = {0}, .events = 0, .all_events = 0});
    tell(&watch, Phase::building, 0.75);
    const std::vector<PhaseProgress> heard = watch.heard();
    ASSERT_EQ(heard.size(), 4U);
    EXPECT_EQ(heard[0].phase, Phase::simulating);
    EXPECT_EQ(heard[0].share, 0.25);
    EXPECT_EQ(heard[0].simulated.ps, 5);
    EXPECT_EQ(heard[0].events, 30U);
    EXPECT_EQ(heard[0].all_events, 120U);
    EXPECT_EQ(heard[0].played_events, 20U);
    EXPECT_EQ(heard[1].share, 1);
    EXPECT_EQ(heard[2].share, 0);
    EXPECT_EQ(heard[3].phase, Phase::building);
    EXPECT_EQ(heard[3].share, 0.75);
}

TEST(Watch, HearsOfEveryPhaseOfAStepInOrder) {
    Listener watch;
    simulate_step(small_step(), Fold::automatic, {.watch = &watch});
    EXPECT_EQ(watch.phases(), (std::vector{Phase::building, Phase::choosing_algorithms,
                                           Phase::simulating, Phase::explaining}));
    Listener brief;
    simulate_step(small_step(), Fold::automatic, {.explain = false, .watch = &brief});
    EXPECT_EQ(brief.phases(),
              (std::vector{Phase::building, Phase::choosing_algorithms, Phase::simulating}));
}

TEST(Watch, ChangesNoResult) {
    Listener watch;
    const StepResult watched = simulate_step(small_step(), Fold::automatic, {.watch = &watch});
    const StepResult alone = simulate_step(small_step(), Fold::automatic);
    EXPECT_EQ(watched.step_time, alone.step_time);
    EXPECT_EQ(watched.events, alone.events);
    EXPECT_EQ(watched.played_events, alone.played_events);
}

TEST(Watch, StopsAStepInEveryPhase) {
    for (const Phase phase :
         {Phase::building, Phase::choosing_algorithms, Phase::simulating, Phase::explaining}) {
        Listener watch(phase);
        try {
            simulate_step(small_step(), Fold::automatic, {.watch = &watch});
            ADD_FAILURE() << to_string(phase);
        } catch (const Stopped& stopped) {
            EXPECT_EQ(stopped.reached().phase, phase);
        }
        EXPECT_EQ(watch.phases().back(), phase);
    }
}

TEST(Watch, StopsACollectiveAndAProgram) {
    CollectiveRequest request;
    request.hardware = small_step().hardware;
    request.operation = collectives::Operation::all_gather;
    request.members = {{{0, 1, 4}, {1, 1, 4}}, {}};
    request.bytes = sim::Bytes(1e6);
    Program program;
    program.stages.push_back({"gather", request.collective()});
    for (const Phase phase : {Phase::building, Phase::choosing_algorithms, Phase::simulating}) {
        Listener watch(phase);
        EXPECT_THROW(simulate_collective(request, Fold::automatic, &watch), Stopped)
            << to_string(phase);
        Listener other(phase);
        EXPECT_THROW(simulate_program(request.hardware, program, Fold::automatic, &other), Stopped)
            << to_string(phase);
    }
    Listener explaining(Phase::explaining);
    EXPECT_THROW(simulate_program(request.hardware, program, Fold::automatic, &explaining),
                 Stopped);
}

// Ceilings report only the explaining phase, and a fit only the calibrating phase.
TEST(Watch, StopsCeilingsAndFits) {
    Scenario scenario = small_step();
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    for (const int jobs : {1, 2}) {
        Listener watch(Phase::explaining);
        EXPECT_THROW(what_if(scenario, result, Fold::automatic, {}, jobs, &watch), Stopped);
        EXPECT_EQ(watch.phases(), std::vector{Phase::explaining});
    }
    scenario.hardware.efficiency.mxu = 0.5;
    scenario.expectations = {{"step_time", result.step_time.seconds(), 0.1, "", "", ""}};
    Listener watch(Phase::calibrating);
    EXPECT_THROW(calibrate(std::vector{scenario}, {.pooled = {}, .jobs = 1}, &watch), Stopped);
    EXPECT_EQ(watch.phases(), std::vector{Phase::calibrating});
}

// An evaluation step is a simulation like the training step; runs of unequal work belong to the
// explanation.
TEST(Watch, HearsOfEvaluationStepsToo) {
    Scenario scenario = small_step();
    scenario.step().evaluation = Evaluation{.tokens = 8192, .steps = 2, .train_steps = 3};
    Listener watch;
    const StepResult result =
        simulate_step(scenario, Fold::automatic, {.explain = false, .watch = &watch});
    std::size_t simulated = 0;
    for (const PhaseProgress& one : watch.heard()) {
        simulated += one.phase == Phase::simulating && one.all_events == 0 ? 1 : 0;  // a begin
    }
    EXPECT_EQ(simulated, 2U);
    EXPECT_EQ(result.block, result.step_time * 3 + result.evaluation * 2);
}

// Reports come for every unit of the stage's order (two per microbatch), and while operations
// are lowered.
TEST(Watch, HearsOfBuildingInProportionToIt) {
    const auto heard = [](int microbatches) {
        Scenario scenario = small_step();
        scenario.step().plan.batch.microbatches = microbatches;
        scenario.step().plan.batch.tokens *= microbatches;
        Listener watch;
        simulate_step(scenario, Fold::automatic, {.explain = false, .watch = &watch});
        return std::ranges::count(watch.heard(), Phase::building, &PhaseProgress::phase);
    };
    EXPECT_EQ(heard(5) - heard(1), 2 * 4);
}

// The request comes from another thread, like a button's.
TEST(Watch, IsStoppedFromOutside) {
    Listener watch;
    std::thread([&] { watch.request_stop(); }).join();
    EXPECT_THROW(simulate_step(small_step(), Fold::automatic, {.watch = &watch}), Stopped);
    EXPECT_EQ(watch.heard().size(), 1U);
}

}  // namespace
}  // namespace podsim::scenarios
