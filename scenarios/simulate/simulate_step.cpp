#include <algorithm>
#include <chrono>
#include <oneapi/tbb/task_arena.h>
#include <optional>
#include <string>
#include <utility>

#include "scenarios/explain/critical_path.h"
#include "scenarios/explain/imbalance.h"
#include "scenarios/explain/step_account.h"
#include "scenarios/explain/step_gap.h"
#include "scenarios/lower/lower_step.h"
#include "scenarios/simulate/simulate.h"
#include "sim/base/error.h"
#include "workloads/analytic/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

/// `compute`, `offload`, or what a collective or handover is for.
std::string track_of(const workloads::Op& op) {
    if (const auto* collective = std::get_if<workloads::Collective>(&op.work)) {
        return std::string(workloads::to_string(collective->purpose));
    }
    if (const auto* handover = std::get_if<workloads::Handover>(&op.work)) {
        return std::string(workloads::to_string(handover->purpose));
    }
    return std::holds_alternative<workloads::HostTransfer>(op.work) ? "offload" : "compute";
}

std::vector<Span> spans_of(const workloads::StepProgram& program, const ChipRun& run) {
    std::vector<Span> spans;
    spans.reserve(program.ops.size());
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const workloads::Op& op = program.ops[i];
        spans.push_back(
            {.name = op.name, .track = track_of(op), .start = run.began[i], .end = run.ended[i]});
    }
    return spans;
}

double seconds_since(std::chrono::steady_clock::time_point begun) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

StepResult simulate(const Scenario& scenario, Fold fold, StepOptions options) {
    const auto begun = std::chrono::steady_clock::now();
    const Hardware& hardware = scenario.hardware;
    const workloads::MachineRates rates = machine_rates(hardware);

    workloads::TrainingPlan plan = scenario.plan;
    plan.overlap.prefetch_layers =
        workloads::prefetch_that_fits(scenario.model, plan, hardware.chip.hbm_capacity.value);
    const workloads::StepPrograms programs = workloads::build_stages(scenario.model, plan);
    const auto lowered = [&](Fold how) {
        try {
            return lower_step(programs, hardware, scenario.mesh, how);
        } catch (const sim::InputError& error) {
            throw error.at({scenario.file, 0, 0});
        }
    };
    const LoweredStep step = lowered(fold);

    StepResult result;
    result.lower = workloads::roofline_lower(programs, hardware.slice, scenario.mesh, rates);
    result.serial = workloads::roofline_serial(programs, hardware.slice, scenario.mesh, rates);
    result.book = workloads::book_step(scenario.model, plan, scenario.mesh, rates);

    // Alone, so that its time on the wall is its own.
    const StepRun run = run_step(step, options.reuse, options.watch);
    result.wall_time_s = seconds_since(begun);
    if (options.explain) {
        // Gap and critical path equal those of an unfolded run, so they are found folded.
        const std::optional<LoweredStep> again =
            fold == Fold::off ? std::optional(lowered(Fold::automatic)) : std::nullopt;
        const LoweredStep& folded = again.has_value() ? *again : step;
        StepGap gap(scenario, programs, folded, result.lower, options.reuse);
        RunRecord record(folded.workload);
        sim::execute(folded.workload, &record, options.reuse);
        result.critical_path =
            critical_path(programs, folded, achieved_rates(hardware), record, run.result.end);
        result.gap = gap.shares(run);
        result.explain_time_s = seconds_since(begun) - result.wall_time_s;
    }
    const workloads::StepProgram& program = programs.programs[run.program];
    const StreamAccount stream = account_stream(program, run.reported(), run.result.end);
    result.step_time = run.result.end;
    result.compute = stream.busy;
    result.exposed = stream.waited_for;
    result.exposed_total = stream.waited;
    result.breakdown = stream.by_pass;
    result.prefetch_layers = plan.overlap.prefetch_layers;

    if (scenario.evaluation.has_value()) {
        Scenario evaluated = scenario;
        evaluated.evaluation.reset();
        evaluated.plan.forward_only = true;
        evaluated.plan.batch.tokens = scenario.evaluation->tokens;
        result.evaluation =
            simulate(evaluated, fold,
                     {.reuse = options.reuse, .explain = false, .watch = options.watch})
                .step_time;
        result.block = result.step_time * scenario.evaluation->train_steps +
                       result.evaluation * scenario.evaluation->steps;
    }

    const double seconds = result.step_time.seconds();
    const int chips = hardware.chips();
    const workloads::StepFlops flops = workloads::step_flops(
        scenario.model, plan, workloads::mean_recomputed(scenario.model, plan, programs),
        scenario.report.flop_rule);
    const sim::Flops peak(rates.peak(plan.precision.matmul).value() * chips * seconds);
    result.mfu = flops.model / peak;
    result.hfu = flops.hardware / peak;
    result.tokens_per_s = static_cast<double>(plan.batch.tokens) / seconds;

    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        MemoryUse use =
            account_memory(programs.programs[p], run.chips[p], hardware.chip.hbm_capacity.value);
        if (p == 0 || use.peak > result.memory.peak) {
            result.memory = std::move(use);
            result.memory.stage = static_cast<int>(programs.stage(p));
            result.memory.member = member_text(programs, scenario.mesh, p);
        }
    }
    result.reported_stage = static_cast<int>(programs.stage(run.program));
    result.reported_member = member_text(programs, scenario.mesh, run.program);
    result.imbalance = imbalance_of(scenario, programs, step, options);
    result.passes = account_passes(program, workloads::stage_order(plan, result.reported_stage),
                                   run.reported());
    for (const Share& share : result.exposed) {
        result.bubble += share.name == kBubble ? share.time.seconds() / seconds : 0;
    }
    result.links = link_use(hardware, step.layout, run.result);
    result.spans = spans_of(program, run.reported());
    result.events = run.result.events;
    result.played_events = run.result.played_events;
    result.simulated_chips = step.layout.places.size();
    result.chips = chips;
    return result;
}

}  // namespace

/// Threads of a sweep that wait for the runs behind a gap do not take up other settings meanwhile.
StepResult simulate_step(const Scenario& scenario, Fold fold, StepOptions options) {
    return tbb::this_task_arena::isolate([&] { return simulate(scenario, fold, options); });
}

}  // namespace podsim::scenarios
