#include "scenarios/src/advise/advice.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/ranks.h"

namespace podsim::scenarios {

std::string imbalance_report(const Scenario& scenario, const StepResult& result) {
    if (!result.imbalance) {
        return {};
    }
    const Imbalance& imbalance = *result.imbalance;
    std::vector<std::string> causes;
    std::vector<std::string> instead;
    if (uneven_context(scenario.step().plan, scenario.step().model) &&
        scenario.step().plan.attention.placement == workloads::Placement::zig_zag) {
        causes.push_back(
            fmt::format("a window in a ring over context ({}): the fullest rank has {:.3f} x the "
                        "mean of attention",
                        scenario.step().plan.ways.context, imbalance.attention));
    } else if (uneven_context(scenario.step().plan, scenario.step().model)) {
        causes.push_back(
            fmt::format("plain causal placement over context ({}): the last rank has "
                        "{:.3f} x the mean of attention",
                        scenario.step().plan.ways.context, imbalance.attention));
        instead.emplace_back("zig-zag");
    }
    if (scenario.step().plan.experts.uneven()) {
        causes.push_back(
            fmt::format("unequal experts over expert ({}): the fullest rank has {:.3f} x the mean "
                        "of tokens",
                        scenario.step().plan.ways.expert, imbalance.experts));
        instead.emplace_back("equal experts");
    }
    std::string loads;
    if (scenario.step().plan.experts.uneven()) {
        loads = fmt::format("  tokens of expert's ranks over the mean: {:.3f}\n",
                            fmt::join(scenario.step().plan.experts.loads, ", "));
    }
    std::string even;
    if (imbalance.even_step) {
        const double saved = 1 - imbalance.even_step->seconds() / result.step_time.seconds();
        even = fmt::format("{} would take {}, {:.1f} % {}; ", fmt::join(instead, " and "),
                           format_time(imbalance.even_step->seconds()), 100 * std::abs(saved),
                           saved < 0 ? "more" : "less");
    }
    return fmt::format(
        "  {}; the fullest chip has {:.3f} x the mean of compute; {}times of a chip are of {}\n{}",
        fmt::join(causes, "; "), imbalance.compute, even, result.reported_member, loads);
}

std::string negative_terms(std::span<const Share> gap) {
    std::vector<std::string> removed;  // terms that are the difference to a run without the cause
    std::string text;
    for (const Share& term : gap) {
        if (term.time.ps >= 0) {
            continue;
        }
        if (term.name == "uneven stages" || term.name == "uneven work") {
            text += fmt::format(
                "  {} below zero: the reported chip computes less than the fullest, by which the "
                "bound goes\n",
                term.name);
        } else if (term.name == "HBM of messages") {
            text += fmt::format(
                "  {} below zero: the bound counts what messages read and write, which here goes "
                "on "
                "beside compute and waits\n",
                term.name);
        } else {
            removed.push_back(term.name);
        }
    }
    if (!removed.empty()) {
        text += fmt::format(
            "  {} below zero: without {} the whole would take longer, since operations and "
            "messages "
            "then meet in another order\n",
            fmt::join(removed, " and "), removed.size() == 1 ? "it" : "each of them");
    }
    return text;
}

std::string ceilings_report(const StepResult& result) {
    if (result.ceilings.empty()) {
        return {};
    }
    const double step = result.step_time.seconds();
    Table table({3});
    table.row({"Without one cause", "step", "saves", ""});
    for (const Ceiling& ceiling : result.ceilings) {
        const double seconds = ceiling.step_time.seconds();
        const double saved = 100 * (1 - seconds / step);
        table.row({"  " + ceiling.name, format_time(seconds),
                   saved > -0.05 ? fmt::format("{:.1f} %", std::max(saved, 0.0))
                                 : fmt::format("slower by {:.1f} %", -saved),
                   saved > -0.05 ? ceiling.meaning
                                 : ceiling.meaning + "; the order of operations costs more"});
    }
    return table.text(0);
}

std::vector<std::string> warnings(const Scenario& scenario, const StepResult& result) {
    constexpr double kMuch = 0.02;  // of the step
    std::vector<std::string> warnings = profile_warnings(scenario.hardware);
    // Data between slices crosses PCIe, too; offloaded data crosses PCIe alone.
    const bool offloads = !scenario.step().plan.remat.names.offload.empty();
    double waited = 0;
    for (const Share& share : result.critical_path) {
        const bool between_slices = share.name == "DCN" || (share.name == "PCIe" && !offloads);
        waited += between_slices ? share.time.seconds() : 0;
    }
    for (const topology::LogicalAxis& axis : scenario.step().mesh.axes()) {
        const workloads::PlanAxis* row = workloads::find_axis(axis.name);
        const bool once_a_step = row != nullptr && row->once_a_step;
        if (!once_a_step && scenario.step().mesh.across({axis.name}).length > 1 &&
            waited > kMuch * result.step_time.seconds()) {
            warnings.push_back(fmt::format(
                "{} spans slices, so every layer exchanges over the data-centre network, which the "
                "step waits for {} of its {}; keep {} within a slice and put data on `slice`",
                axis.name, format_time(waited), format_time(result.step_time.seconds()),
                axis.name));
        }
    }
    const workloads::StoredWeights& stored = scenario.step().model.stored;
    if (!stored.place.empty() && !scenario.step().plan.inference) {
        warnings.push_back(fmt::format(
            "{}: quantization_config ({}) is how weights are stored for inference; this step holds "
            "parameters of {:g} bytes: training.parameters and training.precision say what it does",
            stored.place, stored.unknown.empty() ? stored.how : stored.unknown,
            scenario.step().plan.precision.parameters));
    }
    return warnings;
}

}  // namespace podsim::scenarios
