#include "scenarios/src/cli/run_command.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <new>
#include <ostream>
#include <sstream>
#include <utility>

#include "scenarios/src/advise/advice.h"
#include "scenarios/src/advise/memory_remedies.h"
#include "scenarios/src/advise/what_if.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/report_option.h"
#include "scenarios/src/cli/terminal_watch.h"
#include "scenarios/src/report/event_file.h"
#include "scenarios/src/report/program_report.h"
#include "scenarios/src/report/program_timeline.h"
#include "scenarios/src/report/run_page.h"
#include "scenarios/src/report/step_json.h"
#include "scenarios/src/report/step_report.h"
#include "scenarios/src/report/step_sections.h"
#include "scenarios/src/report/step_timeline.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/simulate/within_clock.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

RunAnswer answer_program(const Usage& options, Scenario scenario, Fold fold, TimedWatch& watch) {
    if (options.is_set("what-if")) {
        throw sim::InputError("a program has no ceilings",
                              "leave --what-if out: the report has the terms of the gap");
    }
    watch.begin();
    ProgramResult result = within_clock(scenario, [&] {
        return simulate_program(scenario.hardware, scenario.program(), fold, &watch);
    });
    const WallTime wall{.simulated_s = watch.seconds()};
    std::vector<Verdict> verdicts = judge(scenario, result);
    return {.scenario = std::move(scenario),
            .result = std::move(result),
            .verdicts = std::move(verdicts),
            .wall = wall};
}

StepResult simulated(const Scenario& scenario, Fold fold, const StepOptions& how) {
    return within_clock(scenario, [&] { return simulate_step(scenario, fold, how); });
}

/// Explains a simulated step by further runs. Throws Stopped and what the watch throws.
void look_further(const Usage& options, const ScenarioSource& source, Fold fold, RunAnswer& answer,
                  TimedWatch& watch) {
    StepResult& step = std::get<StepResult>(answer.result);
    const bool reuse = !options.is_set("no-reuse");
    if (step.explaining_stopped) {
        throw Stopped({.phase = Phase::explaining});
    }
    if (!options.is_set("no-explain")) {
        answer.noise = order_noise(answer.scenario, step, reuse, available_jobs(), &watch);
        step.remedies =
            tried_remedies(source, options.all("set"), answer.scenario, step, reuse, &watch);
        answer.advice =
            suggestions(source, options.all("set"), answer.scenario, step, reuse, available_jobs(),
                        &watch, {.none = options.is_set("explain-all")});
        answer.advice->noise = answer.noise ? answer.noise->share : 0;
    }
    answer.wall = watch.wall_time();
    if (options.is_set("what-if")) {
        step.ceilings = what_if(answer.scenario, step, fold,
                                {.reuse = reuse, .reschedule = options.is_set("reschedule")},
                                available_jobs(), &watch);
    }
}

/// Returns `breakdown (compute by pass, ...), gap (...)`.
std::string section_help() {
    std::vector<std::string> texts;
    for (const StepSection& section : step_sections()) {
        texts.push_back(fmt::format("{} ({})", section.name, section.meaning));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns the sections that --show names. Throws sim::InputError for others.
std::vector<std::string> shown_sections(const Usage& options) {
    std::vector<std::string> names;
    std::istringstream list(options.has("show") ? options.get("show") : "");
    for (std::string name; std::getline(list, name, ',');) {
        names.emplace_back(find_section(name).name);
    }
    return options.is_set("verbose") ? names_of_sections() : names;
}

}  // namespace

Usage run_usage() {
    Usage usage(
        "run FILE.yaml [--set key=value]... [--verbose] [--show section,...] [--fold auto|off] "
        "[--what-if] [--reschedule] [--no-explain] [--explain-all] [--no-reuse] [--json PATH|-] "
        "[--trace PATH] [--trace-all] [--report PATH] [--fail-if-not-fit]",
        "Simulates one training step of a scenario (or its program) and reports how long it takes, "
        "where the\n"
        "time goes, and what the analytic estimates say.",
        "podsim run scenarios/quickstart/llama3-70b-v5p-pod.yaml --set batch.tokens=8Mi",
        fmt::format("Keys of a scenario: {}.\n`podsim help KEY` explains one, `podsim help keys` "
                    "lists all.\n",
                    fmt::join(keys_of(""), ", ")));
    usage.settings("set",
                   "override one value of the scenario, as in --set hardware.slice=4x4x4; may be "
                   "repeated");
    add_fold_option(usage);
    usage.flag("verbose", "every section of the report");
    usage.value("show", "sections after the first screen: " + section_help());
    usage.offer_parts("show", names_of_sections());
    usage.flag("no-explain",
               "the step alone: no gap, critical path and advice, which take more runs");
    usage.flag("explain-all",
               fmt::format("explain steps of more than {} million events, too, by runs of more "
                           "than {} times the step's events, and try every change",
                           kMostEventsToExplain / 1'000'000, kMostTimesPlayed));
    usage.flag("what-if",
               "say how long the step would take with infinitely fast links, memory or matmuls, "
               "without latency, with perfect overlap, without remat");
    usage.flag(
        "reschedule",
        "with --what-if and overlap.schedule: latency_hiding: order operations anew for each, "
        "in place of the step's order");
    usage.flag("no-reuse",
               "play every repeated layer; the same step, with fewer suggestions where it plays "
               "more events");
    usage.flag("fail-if-not-fit", "exit status 4 where the step does not fit in memory");
    usage.file("json", "write the result as JSON to a file, or alone to standard output (-)");
    usage.file(
        "trace",
        "write a timeline of every chip that differs, for ui.perfetto.dev or chrome://tracing; "
        "compressed where PATH ends in .gz");
    usage.flag(
        "trace-all",
        "with --trace: messages on links, and operations of long steps, of the whole step, not "
        "of one layer's forward and backward pass");
    add_report_option(usage);
    usage.positional("FILE.yaml", 1);
    return usage;
}

RunAnswer answer_run(const Usage& options, const ScenarioSource& source, TimedWatch& watch) {
    shown_sections(options);
    const Fold fold = parse_fold(options.get("fold"));
    if (options.is_set("reschedule") && !options.is_set("what-if")) {
        throw sim::InputError("--reschedule says how --what-if runs", "write --what-if with it");
    }
    if (options.is_set("trace-all") && !options.has("trace")) {
        throw sim::InputError("--trace-all says how much --trace writes", "write --trace with it");
    }
    refuse_lost_inputs(options, {&source, 1});
    Scenario scenario = load_scenario(source, options.all("set"));
    if (scenario.is_program()) {
        return answer_program(options, std::move(scenario), fold, watch);
    }
    const bool reuse = !options.is_set("no-reuse");
    const bool explain = !options.is_set("no-explain");
    StepOptions how{.reuse = reuse,
                    .explain = explain,
                    .keep_trail = options.has("trace") || options.has("report"),
                    .keep_when_stopped = true,
                    .watch = &watch};
    if (options.is_set("explain-all")) {
        how.most_events_to_explain = std::numeric_limits<std::uint64_t>::max();
        how.most_played_by_a_run = std::numeric_limits<std::uint64_t>::max();
    }
    watch.begin();
    RunAnswer answer{.scenario = std::move(scenario), .result = StepResult{}};
    answer.settings = [source, settings = options.all("set")] {
        return settings_in_force(source, settings);
    };
    try {
        answer.result = simulated(answer.scenario, fold, how);
    } catch (const std::bad_alloc&) {
        if (!explain) {
            throw;
        }
        // The explanation takes several times the memory of the step.
        how.explain = false;
        answer.result = simulated(answer.scenario, fold, how);
        answer.no_memory_for = "gap, critical path and advice";
    }
    const auto next = [&] {
        return std::get<StepResult>(answer.result).explaining_stopped
                   ? "gap, critical path and advice"
               : explain && !answer.advice ? "advice"
                                           : "ceilings";
    };
    try {
        if (answer.no_memory_for.empty()) {
            look_further(options, source, fold, answer, watch);
        }
    } catch (const Stopped&) {
        answer.stopped_before = next();
    } catch (const std::bad_alloc&) {
        answer.no_memory_for = next();
    }
    if (answer.wall.simulated_s == 0) {
        answer.wall = watch.wall_time();
    }
    answer.verdicts = judge(answer.scenario, std::get<StepResult>(answer.result));
    return answer;
}

std::string answer_text(const RunAnswer& answer, const Usage& options) {
    if (const auto* const program = std::get_if<ProgramResult>(&answer.result)) {
        return program_report(answer.scenario, *program, answer.verdicts, answer.wall);
    }
    const StepResult& step = std::get<StepResult>(answer.result);
    const bool left_out = !step.explained && !step.explaining_stopped &&
                          answer.no_memory_for.empty() && !options.is_set("no-explain");
    ReportParts parts{
        .sections = shown_sections(options),
        .faster = faster_text(answer.noise, step),
        .suggestions =
            answer.advice ? suggestions_text(*answer.advice, step, options.is_set("verbose")) : "",
        .order = order_noise_text(answer.noise, step)};
    const auto asked = [&](const char* section) {
        return std::ranges::find(parts.sections, section) != parts.sections.end();
    };
    if (!answer.stopped_before.empty()) {
        parts.order += fmt::format("Stopped: {} left out\n", answer.stopped_before);
    } else if (!answer.no_memory_for.empty()) {
        parts.order += fmt::format("Left out for lack of memory: {} (podsim may take {})\n",
                                   answer.no_memory_for, format_bytes(sim::Bytes(memory_limit())));
    } else if (!step.explained && !left_out && (asked("gap") || asked("path"))) {
        parts.order += "Gap and critical path left out: --no-explain\n";
    }
    if (left_out && step.explaining_bytes > 0) {
        parts.order += fmt::format(
            "Gap and critical path left out: they keep what {} events did, up to {} of memory; "
            "--memory gives more\n",
            step.played_events, format_bytes(sim::Bytes(step.explaining_bytes)));
    } else if (left_out) {
        const std::string why =
            step.explaining_exceeded.empty()
                ? fmt::format("they take up to ten more runs of {} events each", step.played_events)
                : fmt::format("the step without {} plays more than {} events, {} times the step's",
                              step.explaining_exceeded, most_played_to_explain(step.played_events),
                              most_played_to_explain(step.played_events) / step.played_events);
        parts.order +=
            fmt::format("Gap and critical path left out: {}; --explain-all has them\n", why);
    }
    return step_report(answer.scenario, step, answer.verdicts, answer.wall, parts) +
           (parts.sections.empty() ? fmt::format("More: --verbose, or --show {}\n",
                                                 fmt::join(names_of_sections(), ","))
                                   : "");
}

Json answer_json(const RunAnswer& answer) {
    if (const auto* const program = std::get_if<ProgramResult>(&answer.result)) {
        return program_json(answer.scenario, *program, answer.verdicts, answer.wall);
    }
    const StepResult& step = std::get<StepResult>(answer.result);
    Json json = step_json(answer.scenario, step, answer.verdicts, answer.wall);
    add_remedies(json["memory"], answer.scenario, step);
    if (answer.settings) {
        json["settings_in_force"] = settings_json(answer.settings());
    }
    if (answer.noise.has_value()) {
        json["order_noise"] = order_noise_json(*answer.noise);
        json["ten_percent_faster"] = faster_json(answer.noise->faster, step);
        json["twice_as_fast"] = faster_json(answer.noise->twice, step);
    }
    if (answer.advice.has_value() && answer.advice->tried) {
        add_suggestions(json, *answer.advice, step);
    }
    return json;
}

std::string trace_path(const Usage& options) {
    std::string path = output_path(options, "trace");
    refuse_dash("--trace", path);
    return path;
}

Detail trace_detail(const Usage& options) {
    return options.is_set("trace-all") ? Detail::all : Detail::steady;
}

bool has_trail(const RunAnswer& answer) {
    const auto* const step = std::get_if<StepResult>(&answer.result);
    return step == nullptr || step->trail != nullptr;
}

void write_trace(const RunAnswer& answer, const std::string& path, Detail detail) {
    if (path.empty() || !has_trail(answer)) {
        return;
    }
    write_event_file(path, answer.scenario.name, [&](TimelineSink& sink) {
        if (const auto* const program = std::get_if<ProgramResult>(&answer.result)) {
            tell_program(answer.scenario, *program, sink);
        } else {
            tell_step(answer.scenario, *std::get<StepResult>(answer.result).trail, detail, sink);
        }
    });
}

void write_run_report(const RunAnswer& answer, const Usage& options, const ScenarioSource& source,
                      const std::string& path) {
    if (path.empty() || !has_trail(answer)) {
        return;
    }
    const Json json = answer_json(answer);
    const auto* const step = std::get_if<StepResult>(&answer.result);
    if (step == nullptr) {
        write_report(program_page(answer.scenario, json), path);
        return;
    }
    YamlNode tree = read_scenario(source);
    for (const std::string& setting : options.all("set")) {
        apply_setting(tree, setting);
    }
    write_fitting_report(path, kMostSlicesShown, [&](std::size_t most) {
        return step_page(answer.scenario, *step, json, tree, most);
    });
}

int command_run(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = run_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const ScenarioSource source = scenario_argument(options, "run");
    const std::string json = output_path(options, "json");
    const std::string trace = trace_path(options);
    const std::string report = report_path(options);
    int stopped = kDone;
    const RunAnswer answer = [&] {
        TerminalWatch watch(err, on_terminal(err));
        RunAnswer reached = answer_run(options, source, watch);
        stopped = reached.stopped_before.empty() ? kDone : watch.stop_status();
        return reached;
    }();
    if (const auto* const step = std::get_if<StepResult>(&answer.result)) {
        print_warnings(err, warnings(answer.scenario, *step));
    } else {
        print_warnings(err, profile_warnings(answer.scenario.hardware));
    }
    if (!answer.no_memory_for.empty()) {
        err << "podsim: warning: left out for lack of memory: " << answer.no_memory_for << '\n';
    }
    if (json != "-") {
        out << shown(answer_text(answer, options), look_of(out));
    }
    if (!json.empty()) {
        write_json(answer_json(answer), json, out);
    }
    write_trace(answer, trace, trace_detail(options));
    write_run_report(answer, options, source, report);
    if (stopped != kDone) {
        err << fmt::format("podsim run: stopped; the step stands without {}{}\n",
                           answer.stopped_before,
                           (trace.empty() && report.empty()) || has_trail(answer)
                               ? ""
                               : ", and has no timeline or page");
        return stopped;
    }
    const auto* const step = std::get_if<StepResult>(&answer.result);
    if (options.is_set("fail-if-not-fit") && step != nullptr &&
        fit_of(step->memory) == MemoryFit::does_not_fit) {
        return kDoesNotFit;
    }
    return all_hold(answer.verdicts) ? kDone : kExpectationFails;
}

}  // namespace podsim::scenarios
