#include "scenarios/src/advise/memory_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "scenarios/src/advise/memory_remedies.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/scenario/training_step.h"

namespace podsim::scenarios {
namespace {

std::string remedies_text(const Scenario& scenario, const StepResult& result) {
    const Remedies remedies = memory_remedies(scenario, result);
    if (remedies.each.empty()) {
        return fmt::format("  no single change of {} would make it fit; the best reaches {}\n",
                           scenario.step().plan.inference ? "what is stored, batch or tensor ways"
                                                          : "remat, overlap, batch or fsdp ways",
                           format_bytes(remedies.least_peak));
    }
    std::string text =
        std::ranges::all_of(remedies.each, &Remedy::simulated)
            ? "  each of these alone would make it fit:\n"
            : "  each of these alone would make it fit, what was not simulated as far as its "
              "program order says:\n";
    for (const Remedy& one : remedies.each) {
        text += fmt::format("    {}: peak {}{}\n", one.text, format_bytes(one.peak),
                            one.simulated ? "" : " in program order, not simulated");
    }
    return text;
}

}  // namespace

std::string memory_words(const MemoryUse& memory) {
    const std::string much = memory.fits
                                 ? format_bytes(memory.capacity - memory.peak) + " to spare"
                                 : format_bytes(memory.peak - memory.capacity) + " too much";
    const MemoryFit fit = fit_of(memory);
    switch (fit) {
        case MemoryFit::fits:
            return fmt::format("{}, with {}", to_string(fit), much);
        case MemoryFit::tight:
            return fmt::format(
                "{}: {}, less than the {:.0f} % of the capacity that this account is true to",
                to_string(fit), much, 100 * kMemoryBelief);
        case MemoryFit::does_not_fit:
            break;
    }
    return fmt::format("{}: {}", to_string(fit, true), much);
}

std::string look_ahead_words(const StepResult& result) {
    const double asked = result.asked_prefetch;
    if (!result.looks_less_ahead()) {
        return result.memory.fits || asked == 0
                   ? ""
                   : fmt::format("the look-ahead of {:g} {} stays as asked", asked,
                                 asked == 1 ? "layer" : "layers");
    }
    std::string text;
    const auto lowered = [&](std::string_view what, double from, double to) {
        if (to < from) {
            text += fmt::format("{}{} {:g} -> {:g}", text.empty() ? "" : ", ", what, from, to);
        }
    };
    lowered("look-ahead", asked, result.prefetch_layers);
    lowered("fetches from the host ahead", result.asked_fetch, result.fetch_layers);
    text += " to fit";
    if (result.with_asked_prefetch) {
        const double cost = result.step_time.seconds() - result.with_asked_prefetch->seconds();
        text += fmt::format(": {}{}", cost < 0 ? "-" : "+", format_time(std::abs(cost)));
    }
    return text +
           (fit_of(result.memory) == MemoryFit::does_not_fit ? "; it does not fit even so" : "");
}

std::string memory_report(const Scenario& scenario, const StepResult& result) {
    const MemoryUse& memory = result.memory;
    Table table;
    std::string whose = memory.member;
    if (scenario.step().plan.ways.pipeline > 1) {
        whose = fmt::format("stage {}{}{}", memory.stage, whose.empty() ? "" : ", ", whose);
    }
    table.row({fmt::format("Memory of a chip {}{}at its peak", whose.empty() ? "" : "of ",
                           whose.empty() ? "" : whose + " "),
               "", "% of capacity"});
    const auto row = [&](std::string name, sim::Bytes bytes) {
        table.row({std::move(name), format_bytes(bytes),
                   fmt::format("{:.1f}", 100 * (bytes / memory.capacity))});
    };
    for (const auto& [name, bytes] : memory.at_peak) {
        if (bytes.value() > 0) {
            row("  " + name, bytes);
        }
    }
    row("  peak", memory.peak);
    row("  capacity", memory.capacity);
    // The verdict already says that memory lowered it, and the cost of that.
    const std::string ahead = result.looks_less_ahead() ? "" : look_ahead_words(result);
    return table.text(0) + fmt::format("  {}\n", memory_words(memory)) +
           (ahead.empty() ? "" : fmt::format("  {}\n", ahead)) +
           (memory.fits ? "" : remedies_text(scenario, result));
}

}  // namespace podsim::scenarios
