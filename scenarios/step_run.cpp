#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "scenarios/critical_path.h"
#include "scenarios/simulate.h"
#include "scenarios/step_account.h"
#include "scenarios/step_lowering.h"
#include "sim/error.h"
#include "workloads/accounting.h"
#include "workloads/plan.h"

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

/// What one group of the profile's factors costs, and the hardware without it.
struct Cause {
    const char* name;
    void (*remove)(topology::Efficiency&);
};

constexpr Cause kCauses[] = {
    {"stragglers", [](topology::Efficiency& e) { e.straggler = 0; }},
    {"kernels below peak",
     [](topology::Efficiency& e) {
         e.mxu = e.attention = e.vpu = e.hbm = e.fusion = 1;
         e.mxu_ramp = 0;
     }},
    {"links below their rate", [](topology::Efficiency& e) { e.ici = e.dcn = 1; }},
    {"launch", [](topology::Efficiency& e) { e.launch_s = 0; }},
};

/// The what-if runs equal unfolded ones to the picosecond, so they are folded. What perturbations cost
/// comes first, then the profile's factors one after the other: the other terms are those of the sound and ideal machine.
std::vector<Share> gap_of(const Scenario& scenario, const workloads::StepPrograms& programs,
                          const LoweredStep& step, const StepRun& run, Fold fold,
                          const workloads::LowerBound& lower, bool reuse) {
    Hardware hardware = scenario.hardware;
    LoweredStep lowered;
    const LoweredStep* now = fold == Fold::automatic ? &step : nullptr;
    const auto folded = [&]() -> const LoweredStep& {
        if (now == nullptr) {
            lowered = lower_step(programs, hardware, scenario.mesh, Fold::automatic);
            now = &lowered;
        }
        return *now;
    };
    StepRun result = run;
    std::vector<Share> gap;
    const auto remove = [&](const char* name) {
        now = nullptr;
        StepRun without = run_step(folded(), reuse);
        gap.push_back({name, result.result.end - without.result.end});
        result = std::move(without);
    };
    if (!hardware.perturbations.empty()) {
        hardware.perturbations.clear();
        remove("perturbations");
    }
    for (const Cause& cause : kCauses) {
        const topology::Efficiency before = hardware.efficiency;
        cause.remove(hardware.efficiency);
        if (hardware.efficiency != before) {
            remove(cause.name);
        }
    }
    std::ranges::move(
        account_gap(programs, folded(), result, machine_rates(hardware), lower, reuse),
        std::back_inserter(gap));
    return gap;
}

/// Equal to that of an unfolded run, so it is found folded.
std::vector<Share> critical_path_of(const Scenario& scenario,
                                    const workloads::StepPrograms& programs,
                                    const LoweredStep& step, Fold fold, bool reuse) {
    const workloads::MachineRates rates = achieved_rates(scenario.hardware);
    if (fold == Fold::automatic) {
        return critical_path(programs, step, rates, reuse);
    }
    return critical_path(programs,
                         lower_step(programs, scenario.hardware, scenario.mesh, Fold::automatic),
                         rates, reuse);
}

}  // namespace

StepResult simulate_step(const Scenario& scenario, Fold fold, StepOptions options) {
    const auto begun = std::chrono::steady_clock::now();
    const Hardware& hardware = scenario.hardware;
    const workloads::MachineRates rates = machine_rates(hardware);

    workloads::TrainingPlan plan = scenario.plan;
    plan.prefetch_layers =
        workloads::prefetch_that_fits(scenario.model, plan, hardware.chip.hbm_capacity.value);
    const workloads::StepPrograms programs = workloads::build_stages(scenario.model, plan);
    const LoweredStep step = [&] {
        try {
            return lower_step(programs, hardware, scenario.mesh, fold);
        } catch (const sim::InputError& error) {
            throw error.at({scenario.file, 0, 0});
        }
    }();
    const StepRun run = run_step(step, options.reuse);
    const workloads::StepProgram& program = programs.programs[run.program];
    const StreamAccount stream = account_stream(program, run.reported());

    StepResult result;
    result.step_time = run.result.end;
    result.compute = stream.busy;
    result.exposed = stream.waited_for;
    result.exposed_total = stream.waited;
    result.breakdown = stream.by_pass;
    result.prefetch_layers = plan.prefetch_layers;

    result.lower = workloads::roofline_lower(programs, hardware.slice, scenario.mesh, rates);
    result.serial = workloads::roofline_serial(programs, hardware.slice, scenario.mesh, rates);
    result.book = workloads::book_step(scenario.model, plan, scenario.mesh, rates);
    if (options.explain) {
        result.gap = gap_of(scenario, programs, step, run, fold, result.lower, options.reuse);
        result.critical_path = critical_path_of(scenario, programs, step, fold, options.reuse);
    }

    if (scenario.evaluation.has_value()) {
        Scenario evaluated = scenario;
        evaluated.evaluation.reset();
        evaluated.plan.forward_only = true;
        evaluated.plan.tokens = scenario.evaluation->tokens;
        result.evaluation =
            simulate_step(evaluated, fold, {.reuse = options.reuse, .explain = false}).step_time;
        result.block = result.step_time * scenario.evaluation->train_steps +
                       result.evaluation * scenario.evaluation->steps;
    }

    const double seconds = result.step_time.seconds();
    const int chips = hardware.chips();
    const workloads::StepFlops flops =
        workloads::step_flops(scenario.model, plan, programs, scenario.report.flop_rule);
    const sim::Flops peak(rates.peak(plan.precision.matmul).value() * chips * seconds);
    result.mfu = flops.model / peak;
    result.hfu = flops.hardware / peak;
    result.tokens_per_s = static_cast<double>(plan.tokens) / seconds;

    for (std::size_t stage = 0; stage < programs.programs.size(); ++stage) {
        MemoryUse use = account_memory(programs.programs[stage], run.chips[stage],
                                       hardware.chip.hbm_capacity.value);
        if (stage == 0 || use.peak > result.memory.peak) {
            result.memory = std::move(use);
            result.memory.stage = static_cast<int>(stage);
        }
    }
    result.reported_stage = static_cast<int>(run.program);
    for (const Share& share : result.exposed) {
        result.bubble += share.name == kBubble ? share.time.seconds() / seconds : 0;
    }
    result.links = link_use(hardware, step.layout, run.result);
    result.spans = spans_of(program, run.reported());
    result.events = run.result.events;
    result.played_events = run.result.played_events;
    result.simulated_chips = step.layout.places.size();
    result.chips = chips;
    result.wall_time_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return result;
}

}  // namespace podsim::scenarios
