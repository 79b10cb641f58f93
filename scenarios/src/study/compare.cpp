#include "scenarios/src/study/compare.h"

#include <algorithm>
#include <filesystem>

#include "scenarios/src/report/quantities.h"
#include "scenarios/src/scenario/standing.h"
#include "scenarios/src/serve/serve_scenario.h"
#include "scenarios/src/serve/serving_quantities.h"
#include "scenarios/src/simulate/within_clock.h"

namespace podsim::scenarios {
namespace {

std::string family_folder(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    return folder.filename().empty() ? "." : folder.filename().string();
}

template <class Result>
void take(Comparison& row, Result result) {
    const auto number = [&](std::string_view quantity) {
        return number_of(value_of(quantity, row.scenario, result));
    };
    row.simulated = number("step_time");
    row.lower = number("roofline_lower");
    row.serial = number("roofline_serial");
    const Value book = value_of("book", row.scenario, result);
    if (!std::holds_alternative<std::monostate>(book)) {
        row.book = number_of(book);
    }
    row.verdicts = judge(row.scenario, result);
    row.gap = result.gap;
    row.result = std::move(result);
}

std::vector<Verdict> verdicts_of(std::span<const Comparison> rows, const std::string& family,
                                 ReferenceKind kind) {
    std::vector<Verdict> verdicts;
    for (const Comparison& row : rows) {
        for (const Verdict& verdict : row.verdicts) {
            const bool asked =
                kind == ReferenceKind::all || verdict.analytic == (kind == ReferenceKind::formula);
            if (asked && (family.empty() || row.family == family)) {
                verdicts.push_back(verdict);
            }
        }
    }
    return verdicts;
}

}  // namespace

Comparison compare(const Scenario& scenario, Watch* watch) {
    Comparison row;
    row.scenario = scenario;
    row.family = family_folder(scenario.file);
    if (scenario.serving != nullptr) {
        ServingRun run = within_clock(scenario, [&] { return serve_scenario(scenario, watch); });
        row.simulated = run.summary.between_tokens();
        row.verdicts = judge(scenario, run.summary);
        row.result = std::move(run);
    } else if (scenario.is_program()) {
        ProgramResult result = within_clock(scenario, [&] {
            return simulate_program(scenario.hardware, scenario.program(), Fold::automatic, watch);
        });
        row.gap_to_book = result.gap_to_book;
        take(row, std::move(result));
    } else {
        StepResult result = within_clock(
            scenario, [&] { return simulate_step(scenario, Fold::automatic, {.watch = watch}); });
        result.reported_chip = {};  // many times as large as all else
        take(row, std::move(result));
    }
    return row;
}

ErrorSummary errors_of(std::span<const Comparison> rows, const std::string& family,
                       ReferenceKind kind) {
    std::vector<double> errors;
    for (const Verdict& verdict : verdicts_of(rows, family, kind)) {
        errors.push_back(verdict.error);
    }
    return summarise(errors);
}

std::size_t references_of(std::span<const Comparison> rows, const std::string& family,
                          ReferenceKind kind) {
    return verdicts_of(rows, family, kind).size();
}

std::size_t differing_of(std::span<const Comparison> rows, const std::string& family,
                         ReferenceKind kind) {
    return static_cast<std::size_t>(std::ranges::count_if(
        verdicts_of(rows, family, kind),
        [](const Verdict& verdict) { return differs(verdict.error, verdict.expectation.within); }));
}

std::vector<std::string> families_of(std::span<const Comparison> rows) {
    std::vector<std::string> families;
    for (const Comparison& row : rows) {
        if (!row.verdicts.empty() && std::ranges::find(families, row.family) == families.end()) {
            families.push_back(row.family);
        }
    }
    return families;
}

}  // namespace podsim::scenarios
