#include <chrono>
#include <string>

#include "scenarios/simulate.h"
#include "scenarios/step_account.h"
#include "scenarios/step_lowering.h"
#include "sim/error.h"
#include "workloads/accounting.h"
#include "workloads/plan.h"

namespace podsim::scenarios {
namespace {

std::vector<Span> spans_of(const workloads::StepProgram& program, const StepRun& run) {
    std::vector<Span> spans;
    spans.reserve(program.ops.size());
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const workloads::Op& op = program.ops[i];
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        spans.push_back({.name = op.name,
                         .track = collective == nullptr
                                      ? "compute"
                                      : std::string(workloads::to_string(collective->purpose)),
                         .start = run.began[i],
                         .end = run.ended[i]});
    }
    return spans;
}

}  // namespace

StepResult simulate_step(const Scenario& scenario, Fold fold) {
    const auto begun = std::chrono::steady_clock::now();
    const Hardware& hardware = scenario.hardware;
    const workloads::MachineRates rates = machine_rates(hardware);

    workloads::TrainingPlan plan = scenario.plan;
    plan.prefetch_layers =
        workloads::prefetch_that_fits(scenario.model, plan, hardware.chip.hbm_capacity.value);
    const workloads::StepProgram program = workloads::build_step(scenario.model, plan);
    const LoweredStep step = [&] {
        try {
            return lower_step(program, hardware, scenario.mesh, fold);
        } catch (const sim::InputError& error) {
            throw error.at({scenario.file, 0, 0});
        }
    }();
    const StepRun run = run_step(step);
    const StreamAccount stream = account_stream(program, run);

    StepResult result;
    result.step_time = run.result.end;
    result.compute = stream.busy;
    result.exposed = stream.waited_for;
    result.exposed_total = stream.waited;
    result.breakdown = stream.by_pass;
    result.prefetch_layers = plan.prefetch_layers;

    result.lower = workloads::roofline_lower(program, hardware.slice, scenario.mesh, rates);
    result.serial = workloads::roofline_serial(program, hardware.slice, scenario.mesh, rates);
    result.book = workloads::book_step(scenario.model, plan, scenario.mesh, rates);
    // The what-if runs behind the gap equal unfolded ones to the picosecond, so they are folded.
    result.gap = account_gap(
        program,
        fold == Fold::off ? lower_step(program, hardware, scenario.mesh, Fold::automatic) : step,
        run, rates, result.lower);

    const double seconds = result.step_time.seconds();
    const int chips = hardware.chips();
    const workloads::StepFlops flops = workloads::step_flops(scenario.model, plan, program);
    const sim::Flops peak(rates.flops.value() * chips * seconds);
    result.mfu = flops.model / peak;
    result.hfu = flops.hardware / peak;
    result.tokens_per_s = static_cast<double>(plan.tokens) / seconds;

    result.memory = account_memory(program, run, hardware.chip.hbm_capacity.value);
    result.links = link_use(hardware, step.layout, run.result);
    result.spans = spans_of(program, run);
    result.events = run.result.events;
    result.played_events = run.result.played_events;
    result.simulated_chips = step.layout.places.size();
    result.chips = chips;
    result.wall_time_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return result;
}

}  // namespace podsim::scenarios
