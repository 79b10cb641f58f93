#include "scenarios/src/report/step_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "scenarios/src/advise/advice.h"
#include "scenarios/src/advise/diagnosis.h"
#include "scenarios/src/advise/inference_report.h"
#include "scenarios/src/advise/memory_report.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/report/quantities.h"
#include "scenarios/src/report/shares_table.h"
#include "scenarios/src/report/step_sections.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/kernels_text.h"
#include "scenarios/src/scenario/mfu_peak.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/models/model.h"
#include "workloads/plan/padding.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/work/placed_runs.h"

namespace podsim::scenarios {
namespace {

/// `fsdp x/4 y z/2 (1120), context z%2 (2), tensor x%4 (4)`.
std::string mesh_with_sizes(const Scenario& scenario) {
    std::vector<std::string> axes;
    for (std::size_t i = 0; i < scenario.step().mesh_axes.size(); ++i) {
        const topology::LogicalAxis& axis = scenario.step().mesh.axes()[i];
        axes.push_back(
            fmt::format("{} {} ({})", axis.name, scenario.step().mesh_axes[i], axis.size()));
    }
    return fmt::format("{}", fmt::join(axes, ", "));
}

std::string header(const Scenario& scenario) {
    const workloads::Occupancy batch =
        workloads::occupancy_of(scenario.step().model, scenario.step().plan);
    Table table({1});
    const workloads::ParameterCount count = workloads::count_parameters(scenario.step().model);
    const std::string active =
        count.active == count.total
            ? ""
            : fmt::format(", {} of a token", format_count(static_cast<double>(count.active)));
    table.row({"model", fmt::format("{}, {} parameters{}", scenario.step().model.name,
                                    format_count(static_cast<double>(count.total)), active)});
    table.row({"slice", slice_text(scenario.hardware)});
    table.row({"mesh", mesh_with_sizes(scenario)});
    const workloads::TrainingPlan& plan = scenario.step().plan;
    table.row({plan.inference ? "step" : "batch",
               plan.inference ? runs_text(plan)
                              : fmt::format("{} tokens, {} sequences of {}", plan.batch.tokens,
                                            batch.sequences, plan.batch.sequence)});
    if (scenario.step().plan.batch.microbatches > 1 || scenario.step().plan.ways.pipeline > 1) {
        table.row({"microbatches", fmt::format("{} of {} sequences a shard",
                                               scenario.step().plan.batch.microbatches,
                                               batch.sequences_per_shard)});
    }
    if (batch.occupied < 1) {
        table.row({"", fmt::format("{} sequences on {} shards: {:.1f} % of the work is on real "
                                   "tokens",
                                   batch.sequences, batch.shards, 100 * batch.occupied)});
    }
    for (const workloads::Padding& one :
         paddings(scenario.step().model, plan.ways,
                  plan.inference ? workloads::KeyHeads::repeated : workloads::KeyHeads::split,
                  plan.moe.whole)) {
        table.row(
            {"", fmt::format(
                     "{} {} are padded to {} by the tensor ways: {:.1f} % of them is waste",
                     one.size, one.what, one.padded,
                     100 * (1 - static_cast<double>(one.size) / static_cast<double>(one.padded)))});
    }
    return scenario.name + '\n' + table.text(2);
}

/// Returns `, 80 % of published steps like it lay within ±6 %`, if the profile has a band.
std::string band_text(const Scenario& scenario) {
    const std::optional<StepBand> band = band_of(scenario);
    if (!band.has_value()) {
        return {};
    }
    return fmt::format(", {} ±{:.0f} %",
                       band->like
                           ? "80 % of published steps like it lay within"
                           : "no published step is like it, 80 % of those unlike others lay within",
                       100 * band->share);
}

std::string percent_of(sim::Time part, sim::Time whole) {
    return fmt::format("{:.0f} %", 100 * part.seconds() / whole.seconds());
}

/// Returns one line with the compute time and the exposed time.
std::string halves(const StepResult& result) {
    std::string text =
        fmt::format("  compute {}, {} of the step", format_time(result.compute.seconds()),
                    percent_of(result.compute, result.step_time));
    const std::vector<Share> waits = by_cause(result.exposed);
    if (result.exposed_total.ps > 0) {
        text += fmt::format("; it waits {}", format_time(result.exposed_total.seconds()));
        if (!waits.empty()) {
            text += fmt::format(", {} of that for {}",
                                percent_of(waits.front().time, result.exposed_total),
                                waits.front().name);
        }
    }
    return text + '\n';
}

/// Returns a line on a step that may not fit, and one on the look-ahead that memory cost.
std::string memory_verdict(const StepResult& result) {
    const MemoryFit fit = fit_of(result.memory);
    const std::string ahead = result.looks_less_ahead() ? look_ahead_words(result) : "";
    return (fit == MemoryFit::fits
                ? ""
                : fmt::format("  {} in the memory of a chip{} (see below)\n", to_string(fit, true),
                              fit == MemoryFit::tight ? ": it may not fit" : "")) +
           (ahead.empty() ? "" : fmt::format("  {}\n", ahead));
}

/// Returns the diagnosis, one sentence per line.
std::string diagnosis_text(const Scenario& scenario, const StepResult& result) {
    std::string text = memory_verdict(result);
    for (const std::string& sentence : diagnosis(result)) {
        text += "  " + sentence + '\n';
    }
    return text + few_rows_text(scenario, result);
}

/// Returns the bubble beside its formula.
std::string pipeline_text(const workloads::TrainingPlan& plan, const StepResult& result) {
    if (plan.ways.pipeline == 1) {
        return {};
    }
    const workloads::PassTimes& passes = result.passes;
    const std::string of =
        plan.pipeline.schedule == workloads::PipelineSchedule::zero_bubble && !plan.forward_only
            ? fmt::format(" (p - 1)(F + B - W) with F {}, B {}, W {}",
                          format_time(passes.forward.value()),
                          format_time(passes.input_gradients.value()),
                          format_time(passes.weight_gradients.value()))
            : "";
    return fmt::format(
        "  {} stages, {}: bubble {:.1f} % of the step, {:.1f} % by the formula{}; times "
        "of a chip are of stage {}\n",
        plan.ways.pipeline, workloads::to_string(plan.pipeline.schedule), 100 * result.bubble,
        100 * workloads::bubble_fraction(plan, passes), of, result.reported.stage);
}

std::string name_of_mfu(workloads::FlopRule rule) {
    switch (rule) {
        case workloads::FlopRule::executed:
            return "MFU";
        case workloads::FlopRule::parameters:
            return "MFU of 6 x parameters alone";
        case workloads::FlopRule::masked_attention:
            return "MFU with all parameters";
        case workloads::FlopRule::full_attention:
            return "MFU with all parameters and attention scores";
        default:
            break;
    }
    return "MFU as MaxText counts";
}

/// Returns a few words on what the rule counts.
std::string_view counted_text(workloads::FlopRule rule) {
    switch (rule) {
        case workloads::FlopRule::executed:
            return "6 x matmul parameters + attention as masked";
        case workloads::FlopRule::parameters:
            return "6 x all parameters";
        case workloads::FlopRule::masked_attention:
            return "6 x all parameters + attention as masked";
        case workloads::FlopRule::full_attention:
            return "6 x all parameters + all attention scores";
        case workloads::FlopRule::maxtext:
            return "as MaxText logs it";
        case workloads::FlopRule::maxtext_unwindowed:
            return "as MaxText logs it, which counts no window of this model";
        case workloads::FlopRule::maxtext_2025:
            return "as MaxText logged it from July 2025 to April 2026";
        default:
            break;
    }
    return "as MaxText logged it until July 2025, all attention scores";
}

/// Returns the number that a training framework logs.
std::string device_rate(const Scenario& scenario, const StepResult& result) {
    if (scenario.step().plan.inference.has_value()) {
        return {};
    }
    const workloads::FlopRule rule = scenario.step().report.flop_rule;
    return fmt::format(
        "  {:.1f} TFLOP/s/device by the rule {}: {}\n",
        device_flops(scenario.hardware.chip, scenario.step().plan.precision.matmul, result.mfu)
                .value() /
            1e12,
        workloads::to_string(rule), counted_text(rule));
}

std::string rates(const Scenario& scenario, const StepResult& result) {
    return fmt::format("  {} {}, HFU {}, {} tokens/s, {} a chip\n",
                       name_of_mfu(scenario.step().report.flop_rule), format_percent(result.mfu),
                       format_percent(result.hfu), format_count(result.tokens_per_s),
                       format_count(result.tokens_per_s / scenario.hardware.chips()));
}

/// Returns links and memory of a chip, one line each. A step that does not fit, or hardly fits, has
/// the memory table instead.
std::string machine_lines(const StepResult& result) {
    std::vector<std::string> busy;
    for (const LinkUse& link : result.links) {
        busy.push_back(fmt::format("{} {:.0f} %", link.name, 100 * link.busy_fraction));
    }
    std::string text = busy.empty() ? "" : fmt::format("  busy: {}\n", fmt::join(busy, ", "));
    if (fit_of(result.memory) == MemoryFit::fits) {
        text += fmt::format("  fits: {} of {} at the peak, {:.1f} %\n",
                            format_bytes(result.memory.peak), format_bytes(result.memory.capacity),
                            100 * (result.memory.peak / result.memory.capacity));
    }
    return text;
}

std::string evaluation(const Scenario& scenario, const StepResult& result) {
    if (!scenario.step().evaluation.has_value()) {
        return {};
    }
    const Evaluation& block = *scenario.step().evaluation;
    return fmt::format(
        "Evaluation step {}; a block of {} training and {} evaluation steps takes {}\n",
        format_time(result.evaluation.seconds()), block.train_steps, block.steps,
        format_time(result.block.seconds()));
}

/// Returns the cost of a million tokens, for inference, or of a training run.
std::string cost_text(const Scenario& scenario, const StepResult& result) {
    const std::optional<double>& price = scenario.step().report.usd_per_chip_hour;
    if (scenario.step().plan.inference.has_value() && price.has_value()) {
        return fmt::format("A million tokens cost {:.3g} USD at {:.2f} USD/chip-hour\n",
                           *price / 3600 * result.chips / result.tokens_per_s * 1e6, *price);
    }
    if (!scenario.step().report.tokens.has_value()) {
        return {};
    }
    const double seconds = training_run_seconds(scenario, result);
    const double chip_hours = seconds / 3600 * scenario.hardware.chips();
    std::string text = fmt::format("Training on {} tokens: {:.1f} days, {} chip-hours",
                                   format_count(*scenario.step().report.tokens), seconds / 86400,
                                   format_count(chip_hours));
    if (scenario.step().report.usd_per_chip_hour.has_value()) {
        text += fmt::format(", {} USD at {:.2f} USD/chip-hour",
                            format_count(chip_hours * *scenario.step().report.usd_per_chip_hour),
                            *scenario.step().report.usd_per_chip_hour);
    }
    return text + (scenario.step().evaluation ? ", evaluation steps included\n" : "\n");
}

/// Returns the policy, and those of its names that nothing reads.
std::string remat_text(const workloads::ModelSpec& model, const workloads::Remat& remat) {
    const workloads::TensorSet unread = never_read(model, remat.names);
    return to_string(remat) + (unread.empty()
                                   ? ""
                                   : fmt::format(" (the backward pass does not read {}: not kept)",
                                                 to_string(unread)));
}

/// Returns `Adam, gradients clipped by their norm`.
std::string optimizer_text(const workloads::TrainingPlan& plan) {
    return fmt::format("{}{}", to_string(plan.optimizer),
                       plan.clips_gradients ? ", gradients clipped by their norm" : "");
}

/// Returns `, int8 matmuls with dynamic scales, weights gathered quantised`.
std::string quantised_text(const workloads::Precision& precision) {
    if (precision.matmul == workloads::MatmulDtype::bf16) {
        return {};
    }
    return fmt::format(", {} matmuls with {} scales{}, weights gathered {}{}",
                       to_string(precision.matmul), to_string(precision.scaling),
                       precision.bf16_backward.empty() ? "" : " (some bf16 backward)",
                       precision.quantised_gather ? "quantised" : "in bf16",
                       precision.quantised_gather == precision.quantised_expert_gather
                           ? ""
                           : " (experts in bf16)");
}

/// Returns the settings that only a training step has.
std::string training_text(const Scenario& scenario) {
    const workloads::TrainingPlan& plan = scenario.step().plan;
    return fmt::format("{}, remat {}, {}, gradients in {}{}", attention_text(plan),
                       remat_text(scenario.step().model, plan.remat), optimizer_text(plan),
                       plan.precision.gradients > 2 ? "fp32" : "bf16",
                       quantised_text(plan.precision));
}

std::string assumptions(const Scenario& scenario, const StepResult& result) {
    const workloads::TrainingPlan& plan = scenario.step().plan;
    return fmt::format(
        "Assumed: profile {}, {}{} ICI rates ({} a link, one way), hop latency {} ({}){}, "
        "{}, prefetch {:g} {}{}{}{}\n",
        profile_label(scenario.hardware),
        scenario.hardware.core_clock == 1
            ? ""
            : fmt::format("cores at {:g} times its clock, ", scenario.hardware.core_clock),
        scenario.hardware.ici_rates == topology::IciRates::book ? "book" : "vendor",
        format_rate(scenario.hardware.chip.ici_one_way(scenario.hardware.ici_rates)),
        format_time(scenario.hardware.chip.ici_latency.value.value()),
        scenario.hardware.latency == LatencyRule::additive ? "additive" : "floor",
        scenario.hardware.hbm == HbmRule::shared ? ", HBM shared by kernels and messages" : "",
        plan.inference ? stored_text(scenario) : training_text(scenario), result.prefetch_layers,
        result.prefetch_layers == 1 ? "layer" : "layers",
        plan.overlap.weights == workloads::WeightGroups::layer
            ? ""
            : fmt::format(", weights by {}", to_string(plan.overlap.weights)),
        plan.overlap.layer_loop ? ", layers in a loop" : "",
        plan.overlap.schedule == workloads::SchedulePolicy::latency_hiding
            ? ", operations ordered to hide latency"
            : "");
}

}  // namespace

std::string step_report(const Scenario& scenario, const StepResult& result,
                        std::span<const Verdict> verdicts, WallTime wall,
                        const ReportParts& parts) {
    std::vector<std::string> sections{
        header(scenario),
        fmt::format("Step time {}{}\n", format_time(result.step_time.seconds()),
                    band_text(scenario)) +
            rates(scenario, result) + device_rate(scenario, result) + halves(result) +
            diagnosis_text(scenario, result) + parts.faster +
            pipeline_text(scenario.step().plan, result) + imbalance_report(scenario, result) +
            machine_lines(result),
    };
    const bool memory_asked = std::ranges::find(parts.sections, "memory") != parts.sections.end();
    if (fit_of(result.memory) != MemoryFit::fits && !memory_asked) {
        sections.push_back(memory_report(scenario, result));
    }
    sections.push_back(parts.suggestions);
    for (const std::string& name : parts.sections) {
        sections.push_back(find_section(name).text(scenario, result));
    }
    for (std::string section :
         {ceilings_report(result), inference_report(scenario, result), evaluation(scenario, result),
          cost_text(scenario, result), verdicts_report(verdicts), parts.order,
          assumptions(scenario, result)}) {
        sections.push_back(std::move(section));
    }
    std::string report;
    for (const std::string& section : sections) {
        if (!section.empty()) {
            report += section + '\n';
        }
    }
    return report + effort_line(result.simulated_chips, result.chips, result.events, wall,
                                result.played_events);
}

std::vector<std::string> names_of_sections() {
    std::vector<std::string> names;
    for (const StepSection& section : step_sections()) {
        names.emplace_back(section.name);
    }
    return names;
}

}  // namespace podsim::scenarios
