// `podsim run`: one training step.
#include <optional>
#include <ostream>

#include "scenarios/advice/advice.h"
#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/console/output.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/load/load.h"
#include "scenarios/report/program_report.h"
#include "scenarios/report/step_json.h"
#include "scenarios/report/step_report.h"
#include "scenarios/report/trace_json.h"
#include "scenarios/study/order_noise.h"
#include "scenarios/study/what_if.h"
#include "scenarios/study/within_clock.h"
#include "scenarios/yaml/schema.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

Usage usage() {
    Usage usage(
        "run FILE.yaml [--set key=value]... [--fold auto|off] [--what-if] "
        "[--reschedule] [--no-reuse] [--json PATH|-] [--trace PATH]",
        "Simulates one training step of a scenario (or its program) and reports how long it takes, "
        "where the\n"
        "time goes, and what the analytic estimates say.",
        "podsim run scenarios/quickstart/llama3-70b-v5p-pod.yaml --set batch.tokens=8Mi",
        "The scenario:\n" + schema_help());
    usage.values("set",
                 "override one value of the scenario, as in --set hardware.slice=4x4x4; may be "
                 "repeated");
    usage.value("fold", "auto: simulate the chips that differ; off: simulate every chip", "auto");
    usage.flag("what-if",
               "say how long the step would take with infinitely fast links, memory or matmuls, "
               "without latency, with perfect overlap, without remat");
    usage.flag(
        "reschedule",
        "with --what-if and overlap.schedule: latency_hiding: order operations anew for each, "
        "in place of the step's order");
    usage.flag("no-reuse",
               "play every repeated layer; the result is the same but for played_events");
    usage.value("json", "write the result as JSON to a file, or alone to standard output (-)");
    usage.value("trace", "write the chip's timeline for chrome://tracing or ui.perfetto.dev");
    usage.positional("FILE.yaml", 1);
    return usage;
}

int run_program(const Scenario& scenario, Fold fold, const std::string& json,
                const std::string& trace, std::ostream& out, std::ostream& err) {
    if (!trace.empty()) {
        throw sim::InputError("a program has no trace",
                              "leave --trace out: the report has the times of the stages");
    }
    WallTime wall;
    ProgramResult result;
    {
        TerminalWatch watch(err, on_terminal(err));
        result = within_clock(scenario.file, [&] {
            return simulate_program(scenario.hardware, scenario.program(), fold, &watch);
        });
        wall.simulated_s = watch.seconds();
    }
    const std::vector<Verdict> verdicts = judge(scenario, result);
    if (json != "-") {
        out << program_report(scenario, result, verdicts, wall);
    }
    if (!json.empty()) {
        write_json(program_json(scenario, result, verdicts, wall), json, out);
    }
    return all_hold(verdicts) ? kDone : kExpectationFails;
}

}  // namespace

int command_run(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    const std::vector<std::string> files = options.all("FILE.yaml");
    if (files.empty()) {
        throw sim::InputError("no scenario file", "usage: podsim run FILE.yaml");
    }
    const Fold fold = parse_fold(options.get("fold"));
    const std::string json = output_path(options, "json");
    const std::string trace = output_path(options, "trace");
    refuse_dash("--trace", trace);

    if (options.is_set("reschedule") && !options.is_set("what-if")) {
        throw sim::InputError("--reschedule says how --what-if runs", "write --what-if with it");
    }
    const Scenario scenario = load_scenario(files.front(), options.all("set"));
    if (scenario.is_program()) {
        if (options.is_set("what-if")) {
            throw sim::InputError("a program has no ceilings",
                                  "leave --what-if out: the report has the terms of the gap");
        }
        return run_program(scenario, fold, json, trace, out, err);
    }
    const bool reuse = !options.is_set("no-reuse");
    WallTime wall;
    StepResult result;
    std::optional<OrderNoise> noise;
    {
        TerminalWatch watch(err, on_terminal(err));
        result = within_clock(scenario.file, [&] {
            return simulate_step(scenario, fold, {.reuse = reuse, .watch = &watch});
        });
        noise = order_noise(scenario, result, reuse, available_jobs(), &watch);
        wall = watch.wall_time();
        if (options.is_set("what-if")) {
            result.ceilings = what_if(scenario, result, fold,
                                      {.reuse = reuse, .reschedule = options.is_set("reschedule")},
                                      available_jobs(), &watch);
        }
    }
    for (const std::string& warning : warnings(scenario, result)) {
        err << "podsim: warning: " << warning << '\n';
    }
    const std::vector<Verdict> verdicts = judge(scenario, result);
    if (json != "-") {
        out << step_report(scenario, result, verdicts, wall) << order_noise_text(noise, result);
    }
    if (!json.empty()) {
        Json values = step_json(scenario, result, verdicts, wall);
        if (noise.has_value()) {
            values["order_noise"] = order_noise_json(*noise);
        }
        write_json(values, json, out);
    }
    if (!trace.empty()) {
        write_file("--trace", trace, json_line(trace_json(scenario, result)));
    }
    return all_hold(verdicts) ? kDone : kExpectationFails;
}

}  // namespace podsim::scenarios
