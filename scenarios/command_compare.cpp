// `podsim compare`: a line a scenario, simulated against analytic and reference values.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
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

struct Row {
    Scenario scenario;
    StepResult result;
    std::vector<Verdict> verdicts;
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

double ratio(const StepResult& result, sim::Seconds estimate) {
    return result.step_time.seconds() / estimate.value();
}

std::string table(std::span<const Row> rows) {
    Table table({8});
    table.row({"scenario", "simulated", "book", "sim/book", "roofline_lower", "sim/lower",
               "roofline_serial", "sim/serial", "reference"});
    for (const Row& row : rows) {
        const StepResult& result = row.result;
        std::vector<std::string> references;
        for (const Verdict& verdict : row.verdicts) {
            references.push_back(verdict_text(verdict));
        }
        table.row({row.scenario.name, format_time(result.step_time.seconds()),
                   format_time(result.book.value()),
                   fmt::format("{:.3f}", ratio(result, result.book)),
                   format_time(result.lower.time.value()),
                   fmt::format("{:.3f}", ratio(result, result.lower.time)),
                   format_time(result.serial.value()),
                   fmt::format("{:.3f}", ratio(result, result.serial)),
                   references.empty() ? "none" : fmt::format("{}", fmt::join(references, ", "))});
    }
    return table.text(0);
}

Json json_of(std::span<const Row> rows) {
    Json scenarios = Json::array();
    for (const Row& row : rows) {
        Json json = step_json(row.scenario, row.result, row.verdicts);
        json.erase("schema");
        json["ratio"] = {{"book", ratio(row.result, row.result.book)},
                         {"roofline_lower", ratio(row.result, row.result.lower.time)},
                         {"roofline_serial", ratio(row.result, row.result.serial)}};
        json["holds"] = all_hold(row.verdicts);
        scenarios.push_back(std::move(json));
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
    std::vector<Row> rows;
    for (const std::string& file : files) {
        rows.push_back({load_scenario(file), {}, {}});
    }
    run_in_order(
        0, rows.size(), jobs,
        [&](std::size_t i) { return simulate_within_clock(rows[i].scenario, Fold::automatic); },
        [&](std::size_t i, StepResult result) {
            Row& row = rows[i];
            row.result = std::move(result);
            row.result.spans.clear();  // not reported here, and long
            row.verdicts = judge(row.scenario, row.result);
        },
        [] { return false; });
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
