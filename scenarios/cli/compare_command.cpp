// `podsim compare`: a line a scenario, simulated against analytic and reference values.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/command.h"
#include "scenarios/load/load.h"
#include "scenarios/load/scenario_files.h"
#include "scenarios/study/calibrate.h"
#include "scenarios/study/in_order.h"
#include "scenarios/text/format.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// What a line shows, of a training step or a program.
struct Row {
    std::string name;
    std::string family;  ///< the folder that the scenario lies in
    double simulated = 0;
    std::optional<double> book{};
    double lower = 0;
    double serial = 0;
    std::vector<Verdict> verdicts;
    Json json{};
};

Usage usage() {
    Usage usage(
        "compare FILE|DIR ... [--jobs N] [--json PATH|-]",
        "Simulates scenarios and prints a line for each: the simulated step time, the\n"
        "analytic estimates, the ratios simulated / estimate, and the references that the\n"
        "scenario states. A folder stands for all *.yaml files in it and below.\n"
        "Of a reference, analytic is the formula's value, or the roofline_lower of a step_time;\n"
        "the reason is the formula's rounding, of one collective every part of the gap to the\n"
        "reference text's time (from book), else the largest parts of the gap to roofline_lower.",
        "podsim compare scenarios/examples");
    usage.value("jobs", "threads; the cores of this machine without it");
    usage.value("json", "write the results as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE|DIR", -1);
    return usage;
}

std::string table(std::span<const Row> rows) {
    Table table;
    table.row({"scenario", "simulated", "book", "sim/book", "roofline_lower", "sim/lower",
               "roofline_serial", "sim/serial"});
    const auto ratio = [](double simulated, double estimate) {
        return fmt::format("{:.3f}", simulated / estimate);
    };
    for (const Row& row : rows) {
        table.row({row.name, format_time(row.simulated), row.book ? format_time(*row.book) : "none",
                   row.book ? ratio(row.simulated, *row.book) : "", format_time(row.lower),
                   ratio(row.simulated, row.lower), format_time(row.serial),
                   ratio(row.simulated, row.serial)});
    }
    return table.text(0);
}

std::string percent(double fraction) {
    return fmt::format("{:+.1f} %", 100 * fraction);
}

/// The two largest terms between the simulated time and roofline_lower: `padding 40 %, latency 30 %`.
std::string largest_terms(const Row& row) {
    std::vector<std::pair<double, std::string>> terms;
    double sum = 0;
    for (const auto& [name, seconds] : row.json["gap"].items()) {
        terms.emplace_back(seconds.get<double>(), name);
        sum += seconds.get<double>();
    }
    std::ranges::stable_sort(terms, std::greater<>{}, [](const auto& term) { return term.first; });
    terms.resize(std::min<std::size_t>(terms.size(), 2));
    std::vector<std::string> texts;
    for (const auto& [seconds, name] : terms) {
        if (seconds > 0 && sum > 0) {
            texts.push_back(fmt::format("{} {:.0f} %", name, 100 * seconds / sum));
        }
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// Of one collective, all terms between the reference text's time and the simulated one, as shares of the
/// text's: `from book: (n-1)/n -25.0 %, latency +8.6 %`; empty without a gap to the text.
std::string terms_from_book(const Row& row) {
    constexpr double kSmallest = 0.0005;  // what is printed as 0.0 % is left out
    if (!row.json.contains("gap_to_book") || !row.book) {
        return {};
    }
    std::vector<std::string> texts;
    for (const auto& [name, seconds] : row.json["gap_to_book"].items()) {
        const double share = seconds.get<double>() / *row.book;
        if (std::abs(share) >= kSmallest) {
            texts.push_back(fmt::format("{} {}", name, percent(share)));
        }
    }
    return texts.empty() ? "" : fmt::format("from book: {}", fmt::join(texts, ", "));
}

/// Why a value is not its reference: of a formula what the reference says of its rounding, of a simulated one
/// what it consists of.
std::string reason(const Row& row, const Verdict& verdict) {
    if (verdict.analytic) {
        return verdict.expectation.source;
    }
    const std::string from_book = terms_from_book(row);
    return from_book.empty() ? largest_terms(row) : from_book;
}

std::string references(std::span<const Row> rows) {
    Table table({1, 6, 7});
    table.row({"References", "", "reference", "analytic", "simulated", "error", "",
               "reason: parts above roofline_lower"});
    for (const Row& row : rows) {
        for (const Verdict& verdict : row.verdicts) {
            const Expectation& expected = verdict.expectation;
            const std::string value = quantity_text(expected.quantity, verdict.value);
            const std::string lower =
                expected.quantity == "step_time" ? format_time(row.lower) : "";
            table.row({"  " + row.name, expected.quantity,
                       quantity_text(expected.quantity, expected.of),
                       verdict.analytic ? value : lower, verdict.analytic ? "" : value,
                       percent(verdict.error),
                       fmt::format("{} within {:.4g} %", verdict.holds ? "holds" : "FAILS",
                                   100 * expected.within),
                       reason(row, verdict)});
        }
    }
    return table.text(0);
}

/// Errors of all references of a folder; of all rows with an empty name.
std::vector<double> errors_of(std::span<const Row> rows, const std::string& family) {
    std::vector<double> errors;
    for (const Row& row : rows) {
        for (const Verdict& verdict : row.verdicts) {
            if (family.empty() || row.family == family) {
                errors.push_back(verdict.error);
            }
        }
    }
    return errors;
}

std::vector<std::string> families_of(std::span<const Row> rows) {
    std::vector<std::string> families;
    for (const Row& row : rows) {
        if (!row.verdicts.empty() && std::ranges::find(families, row.family) == families.end()) {
            families.push_back(row.family);
        }
    }
    return families;
}

std::string families(std::span<const Row> rows) {
    Table table;
    table.row({"Errors by folder", "references", "mean absolute", "bias", "worst"});
    const auto line = [&](const std::string& name, const std::string& family) {
        const std::vector<double> errors = errors_of(rows, family);
        const ErrorSummary summary = summarise(errors);
        table.row({"  " + name, fmt::format("{}", errors.size()),
                   fmt::format("{:.1f} %", 100 * summary.mean_absolute), percent(summary.bias),
                   percent(summary.worst)});
    };
    for (const std::string& family : families_of(rows)) {
        line(family, family);
    }
    line("all", "");
    return table.text(0);
}

std::string folder_of(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    return folder.filename().empty() ? "." : folder.filename().string();
}

Row run_step_row(const Scenario& scenario) {
    const StepResult result = simulate_within_clock(scenario, Fold::automatic);
    Row row{.name = scenario.name,
            .family = folder_of(scenario.file),
            .simulated = result.step_time.seconds(),
            .book = result.book.value(),
            .lower = result.lower.time.value(),
            .serial = result.serial.value(),
            .verdicts = judge(scenario, result)};
    row.json = step_json(scenario, result, row.verdicts);
    return row;
}

Row run_program_row(const Scenario& scenario) {
    const ProgramResult result = simulate_program_within_clock(scenario, Fold::automatic);
    Row row{.name = scenario.name,
            .family = folder_of(scenario.file),
            .simulated = result.time.seconds(),
            .book = result.book ? std::optional(result.book->value()) : std::nullopt,
            .lower = result.lower.value(),
            .serial = result.serial.value(),
            .verdicts = judge(scenario, result)};
    row.json = program_json(scenario, result, row.verdicts);
    return row;
}

Row run_row(const Scenario& scenario) {
    Row row = scenario.program != nullptr ? run_program_row(scenario) : run_step_row(scenario);
    row.json.erase("schema");
    row.json["ratio"] = {{"book", nullptr},
                         {"roofline_lower", row.simulated / row.lower},
                         {"roofline_serial", row.simulated / row.serial}};
    if (row.book) {
        row.json["ratio"]["book"] = row.simulated / *row.book;
    }
    row.json["holds"] = all_hold(row.verdicts);
    return row;
}

Json json_of(std::span<const Row> rows) {
    Json scenarios = Json::array();
    for (const Row& row : rows) {
        scenarios.push_back(row.json);
    }
    Json json = {{"schema", kSchemaName}, {"scenarios", std::move(scenarios)}};
    std::vector<std::string> names = families_of(rows);
    names.emplace_back();
    for (const std::string& family : names) {
        const std::vector<double> errors = errors_of(rows, family);
        const ErrorSummary summary = summarise(errors);
        json["errors"][family.empty() ? "all" : family] = {{"references", errors.size()},
                                                           {"mean_absolute", summary.mean_absolute},
                                                           {"bias", summary.bias},
                                                           {"worst", summary.worst}};
    }
    return json;
}

}  // namespace

int command_compare(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    const std::vector<std::string> files = files_of(options.all("FILE|DIR"));
    if (files.empty()) {
        throw sim::InputError("no scenario", "usage: podsim compare FILE|DIR ...");
    }
    const int jobs = parse_jobs(options);
    const std::string json = output_path(options, "json");

    // All files are read before the first runs: bad input shows at once.
    std::vector<Scenario> scenarios;
    for (const std::string& file : files) {
        scenarios.push_back(load_scenario(file));
    }
    std::vector<Row> rows;
    run_in_order(
        0, scenarios.size(), jobs, [&](std::size_t i) { return run_row(scenarios[i]); },
        [&](std::size_t, Row row) { rows.push_back(std::move(row)); }, [] { return false; });
    if (json != "-") {
        out << table(rows);
        if (!families_of(rows).empty()) {
            out << '\n' << references(rows) << '\n' << families(rows);
        }
    }
    if (!json.empty()) {
        write_json(json_of(rows), json, out);
    }
    return std::ranges::all_of(rows, [](const Row& row) { return all_hold(row.verdicts); })
               ? kDone
               : kExpectationFails;
}

}  // namespace podsim::scenarios
