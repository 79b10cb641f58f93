#include "scenarios/src/report/step_sections.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "scenarios/src/advise/advice.h"
#include "scenarios/src/advise/memory_report.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/report/shares_table.h"
#include "scenarios/src/scenario/kernels_text.h"
#include "scenarios/src/scenario/training_step.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

std::string breakdown(const Scenario& /*scenario*/, const StepResult& result) {
    std::vector<Share> shares = without_zeros(result.breakdown);
    const std::size_t passes = shares.size();
    const std::vector<Share> exposed = without_zeros(result.exposed);
    shares.insert(shares.end(), exposed.begin(), exposed.end());
    const ShareColumns columns(shares, result.step_time);
    Table table;
    table.row({"Time of the step", "ms", "% of step"});
    for (std::size_t i = 0; i < passes; ++i) {
        table.row(columns.cells("    " + shares[i].name, i, i + 1));
    }
    table.row(columns.cells("  compute", 0, passes));
    for (std::size_t i = passes; i < shares.size(); ++i) {
        table.row(columns.cells("    " + shares[i].name, i, i + 1));
    }
    table.row(columns.cells("  exposed communication", passes, shares.size()));
    table.row(columns.cells("  step", 0, shares.size()));
    return table.text(0);
}

std::string path(const Scenario& /*scenario*/, const StepResult& result) {
    const std::vector<Share>& shares = result.critical_path;
    if (shares.empty()) {
        return {};
    }
    const ShareColumns columns(shares, result.step_time);
    Table table;
    table.row({"Critical path: what the end of this run waited for, not what would be saved", "ms",
               "% of step"});
    for (std::size_t i = 0; i < shares.size(); ++i) {
        table.row(columns.cells("  " + shares[i].name, i, i + 1));
    }
    table.row(columns.cells("  step", 0, shares.size()));
    return table.text(0);
}

std::string estimates(const Scenario& /*scenario*/, const StepResult& result) {
    Table table({3});
    table.row({"Analytic estimates", "time", "simulated/estimate"});
    const auto row = [&](const std::string& name, sim::Seconds estimate, std::string meaning) {
        table.row({"  " + name, format_time(estimate.value()),
                   fmt::format("{:.4f}", result.step_time.seconds() / estimate.value()),
                   std::move(meaning)});
    };
    row("roofline_lower", result.lower.time, "a true bound");
    const std::vector<std::string> loading = result.book_loading.parts();
    row("book", result.book,
        loading.empty()
            ? "the reference text's closed forms"
            : fmt::format("the reference text's closed forms; bound by loading weights: {}",
                          fmt::join(loading, ", ")));
    row("roofline_serial", result.serial, "every operation after the other");
    return table.text(0);
}

std::string gap(const Scenario& /*scenario*/, const StepResult& result) {
    const std::vector<Share> shares = without_zeros(result.gap);
    if (shares.empty()) {
        return {};
    }
    const ShareColumns columns(shares, total_of(shares));
    Table table;
    table.row({"Gap: step - roofline_lower", "ms", "% of gap", "removed alone"});
    for (std::size_t i = 0; i < shares.size(); ++i) {
        std::vector<std::string> cells = columns.cells("  " + shares[i].name, i, i + 1);
        const auto row = std::ranges::find(result.ledger, shares[i].name, &LedgerRow::name);
        cells.push_back(row == result.ledger.end() ? ""
                        : row->alone.ps < 0        ? "costs " + format_time(-row->alone.seconds())
                                                   : "saves " + format_time(row->alone.seconds()));
        table.row(cells);
    }
    table.row(columns.cells("  gap", 0, shares.size()));
    return table.text(0) +
           (result.ledger.empty()
                ? ""
                : "  what the machine falls short by is shared out over all orders of removal "
                  "(Shapley values); the rest is what an ideal machine takes beyond the bound\n") +
           negative_terms(shares);
}

std::string links(const Scenario& /*scenario*/, const StepResult& result) {
    return links_report(result.links);
}

std::string flops(const Scenario& scenario, const StepResult& result) {
    if (scenario.step().plan.inference) {
        return {};
    }
    const std::string lines =
        padding_text(scenario.step().model, scenario.step().plan, result.reported);
    const std::string& member = result.reported_member;
    return lines.empty() ? lines
                         : fmt::format("Beyond the FLOPs that MFU counts{}{}\n{}",
                                       member.empty() ? "" : ", of ", member, lines);
}

constexpr StepSection kSectionTables[] = {
    {"breakdown", "compute by pass, exposed communication by collective", breakdown},
    {"estimates", "the step beside its analytic estimates", estimates},
    {"path", "the critical path by resource", path},
    {"gap", "what lies between the step and its bound", gap},
    {"links", "how busy links and memory are, and with how many bytes", links},
    {"memory", "a chip's memory at its peak, by class", memory_report},
    {"flops", "what kernels compute beyond the FLOPs that MFU counts", flops},
};

}  // namespace

std::span<const StepSection> step_sections() {
    return kSectionTables;
}

const StepSection& find_section(std::string_view name) {
    const auto* const found = std::ranges::find(kSectionTables, name, &StepSection::name);
    if (found == std::end(kSectionTables)) {
        std::vector<std::string> names;
        for (const StepSection& section : kSectionTables) {
            names.emplace_back(section.name);
        }
        throw sim::unknown_name("section", printable(std::string(name)), names);
    }
    return *found;
}

}  // namespace podsim::scenarios
