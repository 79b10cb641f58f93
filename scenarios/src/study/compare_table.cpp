#include "scenarios/src/study/compare_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <string_view>
#include <utility>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/report/program_report.h"
#include "scenarios/src/report/quantities.h"
#include "scenarios/src/report/shares_table.h"
#include "scenarios/src/report/step_json.h"
#include "scenarios/src/scenario/standing.h"
#include "scenarios/src/serve/serving_json.h"

namespace podsim::scenarios {
namespace {

/// Names the time of a serving run (ServingSummary::between_tokens), which is not that of a step;
/// empty for others.
std::string time_of(const Comparison& row) {
    const auto* const run = std::get_if<ServingRun>(&row.result);
    return run == nullptr ? "" : run->summary.gap.median > 0 ? "between tokens" : "to first token";
}

std::string estimates(std::span<const Comparison> rows) {
    const bool labelled =
        std::ranges::any_of(rows, [](const Comparison& row) { return !time_of(row).empty(); });
    Table table(labelled ? std::vector<std::size_t>{2} : std::vector<std::size_t>{});
    const auto add = [&](std::vector<std::string> cells, std::string label) {
        if (labelled) {
            cells.insert(cells.begin() + 2, std::move(label));
        }
        table.row(std::move(cells));
    };
    add({"scenario", "simulated", "book", "sim/book", "roofline_lower", "sim/lower",
         "roofline_serial", "sim/serial"},
        "");
    const auto time = [](const std::optional<double>& estimate) {
        return estimate ? format_time(*estimate) : "none";
    };
    const auto ratio = [](double simulated, const std::optional<double>& estimate) {
        return estimate ? fmt::format("{:.3f}", simulated / *estimate) : "";
    };
    for (const Comparison& row : rows) {
        add({row.scenario.name, format_time(row.simulated), time(row.book),
             ratio(row.simulated, row.book), time(row.lower), ratio(row.simulated, row.lower),
             time(row.serial), ratio(row.simulated, row.serial)},
            time_of(row));
    }
    return table.text(0);
}

std::string percent(double fraction) {
    return fmt::format("{:+.1f} %", 100 * fraction);
}

/// Explains why a value is not its reference: by the source of a reference that is a formula's or
/// differs, and by the terms of a simulated value.
std::string reason(const Comparison& row, const Verdict& verdict) {
    const std::string from_book = terms_from_book(row);
    const std::string parts = verdict.analytic    ? ""
                              : from_book.empty() ? largest_terms(row)
                                                  : from_book;
    const std::string said = verdict.analytic || differs(verdict.error, verdict.expectation.within)
                                 ? verdict.expectation.source
                                 : "";
    return said + (said.empty() || parts.empty() ? "" : "; ") + parts;
}

std::string references(std::span<const Comparison> rows) {
    Table table({1, 6, 7});
    table.row({"References", "", "reference", "analytic", "simulated", "error", "",
               "reason: parts above roofline_lower"});
    for (const Comparison& row : rows) {
        for (const Verdict& verdict : row.verdicts) {
            const Expectation& expected = verdict.expectation;
            const std::string value = quantity_text(expected.quantity, verdict.value);
            const std::string lower =
                expected.quantity == "step_time" ? format_time(row.lower.value_or(0)) : "";
            table.row({"  " + row.scenario.name, expected.quantity,
                       quantity_text(expected.quantity, expected.of),
                       verdict.analytic ? value : lower, verdict.analytic ? "" : value,
                       percent(verdict.error),
                       fmt::format("{} within {:.4g} %", standing(verdict.error, expected.within),
                                   100 * expected.within),
                       reason(row, verdict)});
        }
    }
    return table.text(0);
}

constexpr std::pair<ReferenceKind, std::string_view> kKinds[] = {
    {ReferenceKind::simulated, "simulated"}, {ReferenceKind::formula, "formulas"}};

std::string families(std::span<const Comparison> rows) {
    Table table({0, 1});
    table.row({"Errors by folder", "", "references", "differ", "mean absolute", "bias", "worst"});
    std::vector<std::string> names = families_of(rows);
    names.emplace_back();
    for (const std::string& family : names) {
        for (const auto& [kind, text] : kKinds) {
            const std::size_t count = references_of(rows, family, kind);
            if (count == 0) {
                continue;
            }
            const ErrorSummary summary = errors_of(rows, family, kind);
            table.row({"  " + (family.empty() ? "all" : family), std::string(text),
                       fmt::format("{}", count),
                       fmt::format("{}", differing_of(rows, family, kind)),
                       fmt::format("{:.1f} %", 100 * summary.mean_absolute), percent(summary.bias),
                       percent(summary.worst)});
        }
    }
    return table.text(0);
}

Json result_json(const Comparison& row) {
    if (const auto* const program = std::get_if<ProgramResult>(&row.result)) {
        return program_json(row.scenario, *program, row.verdicts, row.wall);
    }
    if (const auto* const run = std::get_if<ServingRun>(&row.result)) {
        return serving_json(*run, row.verdicts, false);
    }
    return step_json(row.scenario, std::get<StepResult>(row.result), row.verdicts, row.wall);
}

Json row_json(const Comparison& row) {
    Json json = result_json(row);
    json.erase("schema");
    const auto ratio = [&](const std::optional<double>& estimate) {
        return estimate ? Json(row.simulated / *estimate) : Json();
    };
    json["ratio"] = {{"book", ratio(row.book)},
                     {"roofline_lower", ratio(row.lower)},
                     {"roofline_serial", ratio(row.serial)}};
    json["holds"] = all_hold(row.verdicts);
    return json;
}

Json summary_json(std::span<const Comparison> rows, const std::string& family, ReferenceKind kind) {
    const ErrorSummary summary = errors_of(rows, family, kind);
    return {{"references", references_of(rows, family, kind)},
            {"differ", differing_of(rows, family, kind)},
            {"mean_absolute", summary.mean_absolute},
            {"bias", summary.bias},
            {"worst", summary.worst}};
}

}  // namespace

std::string largest_terms(const Comparison& row) {
    std::vector<Share> terms = row.gap;
    const double sum = total_of(terms).seconds();
    std::ranges::stable_sort(terms, std::greater<>{}, &Share::time);
    terms.resize(std::min<std::size_t>(terms.size(), 2));
    std::vector<std::string> texts;
    for (const Share& term : terms) {
        if (term.time.ps > 0 && sum > 0) {
            texts.push_back(fmt::format("{} {:.0f} %", term.name, 100 * term.time.seconds() / sum));
        }
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string terms_from_book(const Comparison& row) {
    constexpr double kSmallest = 0.0005;  // smaller values would be printed as 0.0 %
    std::vector<std::string> texts;
    for (const Share& term : row.gap_to_book) {
        const double share = term.time.seconds() / row.book.value_or(0);
        if (std::abs(share) >= kSmallest) {
            texts.push_back(fmt::format("{} {}", term.name, percent(share)));
        }
    }
    return texts.empty() ? "" : fmt::format("from book: {}", fmt::join(texts, ", "));
}

std::string compare_report(std::span<const Comparison> rows) {
    std::string text = estimates(rows);
    if (!families_of(rows).empty()) {
        text += '\n' + references(rows) + '\n' + families(rows);
    }
    return text;
}

Json compare_json(std::span<const Comparison> rows) {
    Json scenarios = Json::array();
    for (const Comparison& row : rows) {
        scenarios.push_back(row_json(row));
    }
    Json json = {{"schema", kSchemaName}, {"scenarios", std::move(scenarios)}};
    std::vector<std::string> names = families_of(rows);
    names.emplace_back();
    for (const std::string& family : names) {
        Json& errors = json["errors"][family.empty() ? "all" : family];
        errors = summary_json(rows, family, ReferenceKind::all);
        for (const auto& [kind, text] : kKinds) {
            if (references_of(rows, family, kind) > 0) {
                errors[std::string(text)] = summary_json(rows, family, kind);
            }
        }
    }
    return json;
}

}  // namespace podsim::scenarios
