#include "scenarios/src/simulate/try_changes.h"

#include <atomic>
#include <utility>

#include "scenarios/src/base/run_limit.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

struct Outcome {
    Trial trial{};
    std::exception_ptr error{};
};

Outcome try_one(const std::function<Scenario()>& changed, const TryOptions& options, Watch& watch,
                StepMemory& memory) {
    RunLimit limit(watch, options.most_events, options.most_played);
    const auto failed = [&](bool refused) {
        if (limit.exceeded()) {
            return Outcome{.trial = {.too_long = true, .played = limit.played()}};
        }
        return refused && options.may_be_refused ? Outcome{}
                                                 : Outcome{.error = std::current_exception()};
    };
    try {
        StepResult result = simulate_step(changed(), options.fold,
                                          {.reuse = options.reuse,
                                           .explain = false,
                                           .compiled_for = options.compiled_for,
                                           .watch = &limit,
                                           .memory = &memory});
        return {.trial = {.step = TriedStep{result.step_time, std::move(result.memory),
                                            result.played_events},
                          .played = result.played_events}};
    } catch (const sim::InputError&) {
        return failed(true);
    } catch (const sim::TimeOverflow&) {
        return failed(true);
    } catch (...) {
        return failed(false);
    }
}

}  // namespace

std::vector<Trial> try_changes(std::size_t count,
                               const std::function<Scenario(std::size_t)>& changed,
                               const TryOptions& options) {
    PhaseWatch watch(options.watch, Phase::explaining);
    StepMemory of_these;
    StepMemory& memory = options.memory != nullptr ? *options.memory : of_these;
    std::vector<Trial> trials;
    std::uint64_t played = 0;
    std::atomic<bool> ended = false;
    run_in_order(
        0, count, options.fold == Fold::off ? 1 : options.jobs,
        [&](std::size_t i) { return try_one([&] { return changed(i); }, options, watch, memory); },
        [&](std::size_t, const Outcome& outcome) {
            if (ended) {
                return;
            }
            if (outcome.error) {
                std::rethrow_exception(outcome.error);
            }
            played += outcome.trial.played;
            trials.push_back(outcome.trial);
            ended = played > options.most_played_in_all ||
                    (options.all_or_none && outcome.trial.too_long);
        },
        [&] { return ended.load(); });
    return trials;
}

}  // namespace podsim::scenarios
