#include "scenarios/advice/memory_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "scenarios/advice/memory_remedies.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/format.h"
#include "scenarios/text/table.h"

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
    if (memory.tight) {
        return table.text(0) +
               fmt::format(
                   "  tight: {} {}, less than the {:.0f} % of the capacity that "
                   "this account is true to\n",
                   format_bytes(memory.fits ? memory.capacity - memory.peak
                                            : memory.peak - memory.capacity),
                   memory.fits ? "to spare" : "too much", 100 * kMemoryBelief) +
               (memory.fits ? "" : remedies_text(scenario, result));
    }
    if (memory.fits) {
        return table.text(0) + fmt::format("  fits, with {} to spare\n",
                                           format_bytes(memory.capacity - memory.peak));
    }
    return table.text(0) +
           fmt::format("  does NOT fit: {} too much\n",
                       format_bytes(memory.peak - memory.capacity)) +
           remedies_text(scenario, result);
}

}  // namespace podsim::scenarios
