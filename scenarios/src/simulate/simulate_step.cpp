#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/base/run_limit.h"
#include "scenarios/src/scenario/mfu_peak.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/critical_path.h"
#include "scenarios/src/simulate/estimate_step.h"
#include "scenarios/src/simulate/hbm_use.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/memory.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_memory.h"
#include "scenarios/src/simulate/run_record.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/step_gap.h"
#include "scenarios/src/simulate/step_memory.h"
#include "scenarios/src/simulate/step_programs.h"
#include "scenarios/src/simulate/step_result.h"
#include "scenarios/src/simulate/stream_account.h"
#include "sim/base/error.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

/// Returns the time at which the last chip ends the operations before the first decode step.
/// Handovers that it sends are excluded: they are on their way to that step.
sim::Time end_of_prefill(const workloads::StepPrograms& programs, const StepRun& run) {
    sim::Time end;
    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        const workloads::StepProgram& program = programs.programs[p];
        for (workloads::OpIndex op = 0; op < program.first_decode; ++op) {
            const auto* const handover = std::get_if<workloads::Handover>(&program.ops[op].work);
            if (handover == nullptr || !handover->sends) {
                end = std::max(end, run.chips[p].ended[op]);
            }
        }
    }
    return end;
}

/// Limit of the record beside the step's own run: 40 MB. Longer runs may turn out too long to be
/// explained; a run of its own records them.
constexpr std::size_t kMostHeldBeside = 1'000'000;

/// One scenario's simulation, from its plan to its result.
class StepSimulation {
public:
    StepSimulation(const Scenario& scenario, Fold fold, StepOptions options)
        : scenario_(scenario),
          described_(scenario.step()),
          hardware_(scenario.hardware),
          fold_(fold),
          options_(std::move(options)) {}

    StepResult run();

private:
    [[nodiscard]] const workloads::TrainingPlan& plan() const { return built_->plan; }
    [[nodiscard]] const workloads::StepPrograms& programs() const { return built_->programs; }
    [[nodiscard]] LoweredStep lowered(Fold how, Watch* watch, RunMemory& memory) const;
    void estimate(StepResult& result) const;
    void look_back(const LoweredStep& step, const StepRun& run, std::shared_ptr<RunRecord> record,
                   StepResult& result) const;
    [[nodiscard]] bool may_look_back(const LoweredStep& step, StepResult& result) const;
    void account_time(const StepRun& run, StepResult& result) const;
    void account_bytes(const LoweredStep& step, const StepRun& run, StepResult& result) const;
    void evaluate(StepResult& result) const;
    void count_flops(StepResult& result) const;
    void simulate_even(StepResult& result) const;
    void simulate_asked_prefetch(StepResult& result) const;
    [[nodiscard]] sim::Time time_of_variant(const Scenario& variant, std::string_view what,
                                            LookAhead look_ahead, const StepResult& result) const;
    static void leave_unexplained(StepResult& result);
    [[nodiscard]] std::uint64_t most_played(const StepResult& result) const;

    const Scenario& scenario_;
    const TrainingStep& described_;
    const AchievedHardware hardware_;
    const Fold fold_;
    const StepOptions options_;
    StepMemory of_this_step_;
    StepMemory& shared_ = options_.memory != nullptr ? *options_.memory : of_this_step_;
    std::shared_ptr<const BuiltStep> built_;
    RunMemory memory_{};
};

StepResult StepSimulation::run() {
    tell(options_.watch, Phase::building);
    built_ = build_step_of(scenario_, shared_, options_.compiled_for, options_.watch,
                           options_.look_ahead);
    const bool looks_back = options_.explain || options_.keep_trail;
    const LoweredStep step = lowered(
        fold_ == Fold::automatic && looks_back ? Fold::axes_apart : fold_, options_.watch, memory_);
    tell_begins(options_.watch, memory_.bytes());
    std::shared_ptr<RunRecord> record;
    if (looks_back && fold_ == Fold::automatic) {
        record = std::make_shared<RunRecord>(step.workload, nullptr, kMostHeldBeside);
    }
    const std::vector<sim::Time> left =
        options_.times_left ? options_.times_left(programs()) : std::vector<sim::Time>{};
    const StepRun run = run_step(step, {.reuse = options_.reuse,
                                        .watch = options_.watch,
                                        .beside = record.get(),
                                        .partners = options_.keep_trail,
                                        .longest = options_.longest,
                                        .times_left = left});

    StepResult result;
    result.step_time = run.result.end;
    result.prefetch_layers = plan().overlap.prefetch_layers;
    result.asked_prefetch = built_->asked_prefetch;
    if (!(plan().remat.names.offload == workloads::TensorSet{})) {
        result.fetch_layers = plan().overlap.fetch_layers;
        result.asked_fetch = described_.plan.overlap.fetch_layers;
    }
    result.events = run.result.events;
    result.played_events = run.result.played_events;
    result.simulated_chips = static_cast<int>(step.layout.simulated());
    result.chips = hardware_.chips();
    estimate(result);
    account_time(run, result);
    account_bytes(step, run, result);
    evaluate(result);
    count_flops(result);
    result.explained = options_.explain && result.played_events <= options_.most_events_to_explain;
    result.imbalance = imbalance_of(described_, programs(), step);
    try {
        if ((result.explained || options_.keep_trail) && may_look_back(step, result)) {
            look_back(step, run, std::move(record), result);
        }
        simulate_even(result);
        simulate_asked_prefetch(result);
    } catch (const Stopped&) {
        if (!options_.keep_when_stopped) {
            throw;
        }
        leave_unexplained(result);
        result.explaining_stopped = true;
    } catch (const ExceedsLimit& error) {
        leave_unexplained(result);
        result.explaining_exceeded = error.what();
    }
    return result;
}

void StepSimulation::leave_unexplained(StepResult& result) {
    result.explained = false;
    result.ledger.clear();
    result.gap.clear();
    result.critical_path.clear();
}

std::uint64_t StepSimulation::most_played(const StepResult& result) const {
    return options_.most_played_by_a_run.value_or(most_played_to_explain(result.played_events));
}

/// Lowers the step; `memory` receives the memory of its run.
LoweredStep StepSimulation::lowered(Fold how, Watch* watch, RunMemory& memory) const {
    try {
        LoweredStep step = lower_step(programs(), hardware_, described_.mesh, how, watch,
                                      &shared_.collectives().local());
        memory = memory_of_run(step.workload);
        refuse_beyond_memory(memory, how);
        return step;
    } catch (const BeyondMemory& error) {
        throw BeyondMemory(error.at({scenario_.file, 0, 0}), error.bytes());
    } catch (const sim::InputError& error) {
        throw error.at({scenario_.file, 0, 0});
    }
}

void StepSimulation::estimate(StepResult& result) const {
    const StepBounds bounds = bounds_of(scenario_, *built_);
    result.lower = bounds.lower;
    result.serial = bounds.serial;
    result.book = bounds.book;
    result.book_loading = bounds.book_loading;
}

/// True if the process may hold the run's record, whose size is known once the run has ended.
/// Throws instead if a timeline was requested, so that it is not left out silently.
bool StepSimulation::may_look_back(const LoweredStep& step, StepResult& result) const {
    const auto folded = static_cast<double>(step.layout.folded.size());
    const double share = std::min(1.0, folded / static_cast<double>(step.layout.simulated()));
    const double kept = static_cast<double>(result.played_events) * share;
    const double bytes = memory_.bytes() + memory_of_record(static_cast<std::uint64_t>(kept));
    if (bytes <= memory_limit()) {
        return true;
    }
    if (options_.keep_trail) {
        throw sim::InputError(
            fmt::format("a timeline of {} played events takes up to {} of memory; podsim may take "
                        "{}",
                        static_cast<std::uint64_t>(kept), format_bytes(sim::Bytes(bytes)),
                        format_bytes(sim::Bytes(memory_limit()))),
            "leave out --trace and --report, or give more with --memory", {scenario_.file, 0, 0});
    }
    leave_unexplained(result);
    result.explaining_bytes = bytes;
    return false;
}

/// Sets gap, critical path and trail. They equal those of an unfolded run, so they are derived from
/// a folded one, with axes apart. `record` is that of `run`, if it was folded.
void StepSimulation::look_back(const LoweredStep& step, const StepRun& run,
                               std::shared_ptr<RunRecord> record, StepResult& result) const {
    PhaseWatch explaining(options_.watch, Phase::explaining);
    tell(&explaining, Phase::explaining);
    RunMemory memory_again{};
    const std::optional<LoweredStep> again =
        fold_ == Fold::off ? std::optional(lowered(Fold::axes_apart, &explaining, memory_again))
                           : std::nullopt;
    const LoweredStep& folded = again.has_value() ? *again : step;
    std::optional<StepGap> gap;
    if (result.explained) {
        gap.emplace(scenario_, programs(), folded, result.lower,
                    StepGap::Options{.reuse = options_.reuse,
                                     .most_played = most_played(result),
                                     .played = result.played_events,
                                     .watch = &explaining,
                                     .known = &shared_.collectives()});
    }
    if (record == nullptr || !record->is_whole()) {
        record = std::make_shared<RunRecord>(folded.workload, &explaining);
        sim::execute(folded.workload, record.get(), options_.reuse);
    }
    if (result.explained) {
        result.critical_path = critical_path(programs(), folded, achieved_rates(hardware_), *record,
                                             run.result.end, described_.mesh.written());
        StepGap::Terms terms = gap->terms(run);
        result.ledger = std::move(terms.ledger);
        result.gap = std::move(terms.gap);
    }
    if (options_.keep_trail) {
        StepRun of_folded =
            again.has_value() ? run_step(folded, {.reuse = options_.reuse, .partners = true}) : run;
        result.trail = std::make_shared<StepTrail>(
            StepTrail{programs(), folded, std::move(of_folded), record});
    }
}

void StepSimulation::account_time(const StepRun& run, StepResult& result) const {
    const workloads::StepProgram& program = programs().programs[run.program];
    const StreamAccount stream = account_stream(program, run.reported(), run.result.end);
    result.prefill = end_of_prefill(programs(), run);
    result.compute = stream.busy;
    for (std::size_t p = 0; p < programs().programs.size(); ++p) {
        result.fullest_compute =
            std::max(result.fullest_compute, busy_of(programs().programs[p], run.chips[p]));
    }
    result.exposed = stream.waited_for;
    result.exposed_total = stream.waited;
    result.breakdown = stream.by_pass;
    for (const Share& share : result.exposed) {
        result.bubble +=
            share.name == kBubble ? share.time.seconds() / result.step_time.seconds() : 0;
    }
    result.reported = workloads::ranks_of_programs(described_.model, plan())[run.program];
    result.reported_member = member_text(programs(), described_.mesh, run.program);
    result.passes = account_passes(program, workloads::stage_order(plan(), result.reported.stage),
                                   run.reported());
    result.reported_chip = {
        .programs = {built_, &built_->programs}, .program = run.program, .run = run.reported()};
}

/// Sets the memory of the chip that needs most, and the use of links.
void StepSimulation::account_bytes(const LoweredStep& step, const StepRun& run,
                                   StepResult& result) const {
    for (std::size_t p = 0; p < programs().programs.size(); ++p) {
        MemoryUse use =
            account_memory(programs().programs[p], run.chips[p], hardware_.chip.usable_hbm());
        if (p == 0 || use.peak > result.memory.peak) {
            result.memory = std::move(use);
            result.memory.stage = static_cast<int>(programs().stage(p));
            result.memory.member = member_text(programs(), described_.mesh, p);
        }
    }
    result.links = link_use(hardware_, step.layout, run.result, described_.mesh.written());
    if (step.workload.machine.memory_rate != 0) {
        std::vector<sim::Bytes> kernels;
        for (const workloads::StepProgram& program : programs().programs) {
            kernels.push_back(bytes_of_kernels(program));
        }
        result.links.push_back(hbm_use(step.workload, kernels, step.layout, run.result.end));
    }
}

void StepSimulation::evaluate(StepResult& result) const {
    if (!described_.evaluation.has_value()) {
        return;
    }
    const Evaluation& evaluation = *described_.evaluation;
    Scenario evaluated = scenario_;
    evaluated.step().evaluation.reset();
    evaluated.step().plan.forward_only = true;
    evaluated.step().plan.batch.tokens = evaluation.tokens;
    const StepOptions options{.reuse = options_.reuse,
                              .explain = false,
                              .compiled_for = options_.compiled_for,
                              .watch = options_.watch,
                              .memory = &shared_};
    result.evaluation = StepSimulation(evaluated, fold_, options).run().step_time;
    result.block = result.step_time * evaluation.train_steps + result.evaluation * evaluation.steps;
}

void StepSimulation::count_flops(StepResult& result) const {
    const double seconds = result.step_time.seconds();
    const workloads::StepFlops flops = workloads::step_flops(
        described_.model, plan(), workloads::mean_recomputed(described_.model, plan(), programs()),
        described_.report.flop_rule);
    const sim::FlopsPerSecond rate = peak_of_mfu(scenario_.hardware.chip, plan().precision.matmul);
    const sim::Flops peak(rate.value() * hardware_.chips() * seconds);
    result.mfu = flops.model / peak;
    result.hfu = flops.hardware / peak;
    const auto& inference = plan().inference;
    const auto tokens =
        static_cast<double>(inference ? inference->counted_tokens() : plan().batch.tokens);
    result.tokens_per_s = tokens / seconds;
}

void StepSimulation::simulate_even(StepResult& result) const {
    if (!result.imbalance || !result.explained) {
        return;
    }
    if (const std::optional<Scenario> even = with_even_work(scenario_)) {
        result.imbalance->even_step =
            time_of_variant(*even, "uneven work", LookAhead::that_fits, result);
    }
}

void StepSimulation::simulate_asked_prefetch(StepResult& result) const {
    if (result.explained && result.looks_less_ahead()) {
        result.with_asked_prefetch =
            time_of_variant(scenario_, "look-ahead", LookAhead::asked, result);
    }
}

/// Returns the time of a variant. `what` names the missing term of the explanation if the run takes
/// too long.
sim::Time StepSimulation::time_of_variant(const Scenario& variant, std::string_view what,
                                          LookAhead look_ahead, const StepResult& result) const {
    PhaseWatch explaining(options_.watch, Phase::explaining);
    RunLimit limit(explaining, RunLimit::kNone, most_played(result));
    const StepOptions options{.reuse = options_.reuse,
                              .explain = false,
                              .look_ahead = look_ahead,
                              .watch = &limit,
                              .memory = &shared_};
    try {
        return StepSimulation(variant, Fold::automatic, options).run().step_time;
    } catch (const Stopped&) {
        if (!limit.exceeded()) {
            throw;
        }
        throw ExceedsLimit(std::string(what));
    }
}

}  // namespace

StepResult simulate_step(const Scenario& scenario, Fold fold, StepOptions options) {
    return StepSimulation(scenario, fold, std::move(options)).run();
}

}  // namespace podsim::scenarios
