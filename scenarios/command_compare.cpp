// `podsim compare`: a line a scenario, simulated against analytic and reference values.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <ostream>

#include "scenarios/cli.h"
#include "scenarios/command.h"
#include "scenarios/in_order.h"
#include "scenarios/load.h"
#include "scenarios/scenario_files.h"
#include "scenarios/text.h"
#include "sim/error.h"

namespace podsim::scenarios {
namespace {

/// What a line shows, of a training step or a program.
struct Row {
    std::string name;
    double simulated = 0;
    std::optional<double> book{};
    double lower = 0;
    double serial = 0;
    std::vector<Verdict> verdicts;
    Json json{};
};

Usage usage() {
    Usage usage("compare FILE|DIR ... [--jobs N] [--json PATH|-]",
                "Simulates scenarios and prints a line for each: the simulated step time, the\n"
                "analytic estimates, the ratios simulated / estimate, and the references that the\n"
                "scenario states. A folder stands for all *.yaml files in it and below.",
                "podsim compare scenarios/examples");
    usage.value("jobs", "threads; the cores of this machine without it");
    usage.value("json", "write the results as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE|DIR", -1);
    return usage;
}

std::vector<std::string> files_of(std::span<const std::string> paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!std::filesystem::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        const std::vector<std::string> found = scenario_files(path);
        if (found.empty()) {
            throw sim::InputError("this folder holds no *.yaml file", "name a folder of scenarios",
                                  {path, 0, 0});
        }
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

std::string table(std::span<const Row> rows) {
    Table table({8});
    table.row({"scenario", "simulated", "book", "sim/book", "roofline_lower", "sim/lower",
               "roofline_serial", "sim/serial", "reference"});
    const auto ratio = [](double simulated, double estimate) {
        return fmt::format("{:.3f}", simulated / estimate);
    };
    for (const Row& row : rows) {
        std::vector<std::string> references;
        for (const Verdict& verdict : row.verdicts) {
            references.push_back(verdict_text(verdict));
        }
        table.row({row.name, format_time(row.simulated), row.book ? format_time(*row.book) : "none",
                   row.book ? ratio(row.simulated, *row.book) : "", format_time(row.lower),
                   ratio(row.simulated, row.lower), format_time(row.serial),
                   ratio(row.simulated, row.serial),
                   references.empty() ? "none" : fmt::format("{}", fmt::join(references, ", "))});
    }
    return table.text(0);
}

Row run_step_row(const Scenario& scenario) {
    const StepResult result = simulate_within_clock(scenario, Fold::automatic);
    Row row{.name = scenario.name,
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
            .simulated = result.time.seconds(),
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
    return {{"schema", kSchemaName}, {"scenarios", std::move(scenarios)}};
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
    const std::string json = options.has("json") ? options.get("json") : "";

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
    }
    if (!json.empty()) {
        write_json(json_of(rows), json, out);
    }
    return std::ranges::all_of(rows, [](const Row& row) { return all_hold(row.verdicts); })
               ? kDone
               : kExpectationFails;
}

}  // namespace podsim::scenarios
