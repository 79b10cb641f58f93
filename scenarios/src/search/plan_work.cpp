#include "scenarios/src/search/plan_work.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/search/least_times.h"
#include "scenarios/src/search/placed_mesh.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr FrontWidth kAll = 1 + kMostFamilies;

/// The fronts here are the times left from their first chip, and from the last of each family's
/// groups.
TimeFront before(const LeastTime& least, const TimeFront& behind) {
    TimeFront left = behind;
    if (least.family == LeastTime::kAlike) {
        return behind.behind(least, kAll);
    }
    left.ps[0] += least.receive.ps;
    if (least.family != LeastTime::kNobody) {
        const std::size_t own = 1U + least.family;
        left.ps[0] = std::max(left.ps[0], behind.ps[own] + least.all.ps);
        left.ps[own] = std::max(behind.ps[0], behind.ps[own] + least.send.ps);
    }
    return left;
}

using JsonMessage = nlohmann::json;

// First element of a piece.
constexpr const char* kBound = "bound";
constexpr const char* kRefine = "refine";
constexpr const char* kTry = "try";
constexpr const char* kOwn = "own";

std::string text_of(const JsonMessage& message) {
    std::string text;
    JsonMessage::to_cbor(message, text);
    return text;
}

JsonMessage to_json(const PlanFacts& facts) {
    const auto or_null = [](const std::optional<double>& value) {
        return value ? JsonMessage(*value) : JsonMessage();
    };
    return {facts.setting,
            facts.least_peak,
            facts.capacity,
            facts.chips,
            facts.tokens,
            facts.flops,
            facts.executed_flops,
            facts.peak_flops,
            or_null(facts.usd_per_second),
            or_null(facts.run_tokens)};
}

PlanFacts facts_of(const JsonMessage& message) {
    const auto value = [&](std::size_t i) {
        return message[i].is_null() ? std::nullopt : std::optional(message[i].get<double>());
    };
    PlanFacts facts;
    facts.setting = message[0];
    facts.least_peak = message[1];
    facts.capacity = message[2];
    facts.chips = message[3];
    facts.tokens = message[4];
    facts.flops = message[5];
    facts.executed_flops = message[6];
    facts.peak_flops = message[7];
    facts.usd_per_second = value(8);
    facts.run_tokens = value(9);
    return facts;
}

JsonMessage to_json(const RoughGroup& group) {
    return {to_json(group.facts), group.bound.ps, group.meshes};
}

RoughGroup group_of(const JsonMessage& message) {
    return {facts_of(message[0]), {message[1]}, message[2].get<std::vector<std::uint32_t>>()};
}

JsonMessage to_json(const BoundedPlans& plans) {
    JsonMessage facts = JsonMessage::array();
    for (const PlanFacts& one : plans.facts) {
        facts.push_back(to_json(one));
    }
    std::vector<std::int64_t> bounds;
    std::vector<std::int64_t> likely;
    std::vector<std::uint32_t> facts_of_plans;
    std::vector<std::uint32_t> meshes;
    for (const Candidate& one : plans.candidates) {
        bounds.push_back(one.bound.ps);
        likely.push_back(one.likely.ps);
        facts_of_plans.push_back(one.facts);
        meshes.push_back(one.mesh);
    }
    JsonMessage rough = JsonMessage::array();
    for (const RoughGroup& group : plans.rough) {
        rough.push_back(to_json(group));
    }
    JsonMessage misses = JsonMessage::array();
    for (const Miss& miss : plans.misses) {
        misses.push_back({to_json(miss.facts), miss.mesh});
    }
    return {std::move(facts), bounds,        likely,      facts_of_plans,   meshes,
            plans.enumerated, plans.refused, plans.unfit, std::move(rough), std::move(misses),
            plans.left};
}

}  // namespace

std::vector<sim::Time> times_left(const workloads::StepProgram& program,
                                  std::span<const LeastTime> times) {
    std::vector<TimeFront> behind(program.ops.size());
    std::vector<sim::Time> left(program.ops.size());
    for (std::size_t i = program.ops.size(); i-- > 0;) {
        const TimeFront here = before(times[i], behind[i]);
        left[i] = {here.latest(kAll)};
        for (const workloads::OpIndex other : program.ops[i].after) {
            behind[other].wait_for(here, kAll);
        }
    }
    return left;
}

std::vector<sim::Time> times_left(const Scenario& scenario, const workloads::StepPrograms& programs,
                                  KnownBounds& known) {
    if (programs.programs.size() != 1) {
        return {};
    }
    const AchievedHardware hardware(scenario.hardware);
    LeastTimes least(hardware, TensorCollectives::as_built, known);
    OperationKinds kinds;
    std::vector<std::uint32_t> kind_of;
    const workloads::StepProgram& program = programs.programs.front();
    for (const workloads::Op& op : program.ops) {
        if (std::holds_alternative<workloads::Handover>(op.work)) {
            return {};
        }
        kind_of.push_back(kinds.of(programs, 0, op));
    }
    const PlacedMesh mesh(scenario.step().mesh);
    const std::vector<LeastTime> of_kinds = least.of(kinds, programs, mesh);
    std::vector<LeastTime> times;
    times.reserve(program.ops.size());
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const auto* work = std::get_if<workloads::Compute>(&program.ops[i].work);
        times.push_back(work != nullptr ? LeastTime{least.of(*work)} : of_kinds[kind_of[i]]);
    }
    return times_left(program, times);
}

std::string PlanWork::to_bound(std::size_t machine, std::size_t piece) {
    return text_of({kBound, machine, piece});
}

std::string PlanWork::to_refine(const RoughGroup& group) {
    return text_of({kRefine, to_json(group)});
}

BoundedPlans PlanWork::bounded(const std::string& result) {
    const JsonMessage message = JsonMessage::from_cbor(result);
    if (message.is_null()) {
        throw Stopped({.phase = Phase::bounding});
    }
    BoundedPlans plans;
    for (const JsonMessage& one : message[0]) {
        plans.facts.push_back(facts_of(one));
    }
    for (std::size_t i = 0; i < message[1].size(); ++i) {
        plans.candidates.push_back(
            {{message[1][i]}, message[3][i], message[4][i], {message[2][i]}});
    }
    plans.enumerated = message[5];
    plans.refused = message[6].get<std::map<std::string, std::uint64_t>>();
    plans.unfit = message[7];
    for (const JsonMessage& one : message[8]) {
        plans.rough.push_back(group_of(one));
    }
    for (const JsonMessage& one : message[9]) {
        plans.misses.push_back({facts_of(one[0]), one[1]});
    }
    plans.left = message[10];
    return plans;
}

std::string PlanWork::to_try(const PlanFacts& facts, const Candidate& candidate,
                             sim::Time longest) {
    return text_of({kTry, facts.setting, candidate.mesh, longest.ps});
}

std::string PlanWork::to_try_own() {
    return text_of(JsonMessage::array({kOwn}));
}

CandidateRun PlanWork::trial(const std::string& result) {
    const JsonMessage message = JsonMessage::from_cbor(result);
    return {.stopped = message[0],
            .is_whole = message[1],
            .refused = message[2],
            .step_time = {message[3]},
            .peak = message[4],
            .tight = message[5]};
}

std::string PlanWork::work(const std::string& piece) {
    const JsonMessage message = JsonMessage::from_cbor(piece);
    if (message[0] == kBound || message[0] == kRefine) {
        try {
            return text_of(
                to_json(message[0] == kBound
                            ? bounding_.bound(message[1], message[2], &pieces_, stop_bounding_)
                            : bounding_.refined(group_of(message[1]), &pieces_)));
        } catch (const Stopped&) {
            return text_of(JsonMessage());
        }
    }
    const CandidateRun trial =
        message[0] == kOwn ? simulate([&] { return space_.own_scenario(); }, sim::Time::max())
                           : simulate(
                                 [&] {
                                     PlanFacts facts;
                                     facts.setting = message[1];
                                     return space_.scenario(facts, {.mesh = message[2]});
                                 },
                                 {message[3]});
    return text_of({trial.stopped, trial.is_whole, trial.refused, trial.step_time.ps, trial.peak,
                    trial.tight});
}

CandidateRun PlanWork::simulate(const std::function<Scenario()>& load, sim::Time longest) {
    try {
        const Scenario scenario = load();
        const StepResult result =
            simulate_step(scenario, Fold::automatic,
                          {.explain = false,
                           .watch = &pieces_,
                           .memory = &memory_,
                           .longest = longest,
                           .times_left = [&](const auto& programs) {
                               return times_left(scenario, programs, *bounding_.known());
                           }});
        return {.is_whole = true,
                .step_time = result.step_time,
                .peak = result.memory.peak.value(),
                .tight = result.memory.tight};
    } catch (const TakesLonger& longer) {
        return {.step_time = longer.at_least()};
    } catch (const sim::InputError& error) {
        return {.is_whole = true, .refused = space_.reason_of(error)};
    } catch (const sim::TimeOverflow&) {
        return {.is_whole = true,
                .refused = std::string(kBeyondTheClock),
                .step_time = sim::Time::max()};
    } catch (const Stopped&) {
        return {.stopped = true};
    }
}

}  // namespace podsim::scenarios
