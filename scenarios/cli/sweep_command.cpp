// `podsim sweep`: a scenario under every combination of some values of its keys.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/console/output.h"
#include "scenarios/console/progress.h"
#include "scenarios/console/stop_request.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/ranks/deal.h"
#include "scenarios/ranks/joined_ranks.h"
#include "scenarios/study/parallel.h"
#include "scenarios/study/sweep.h"
#include "scenarios/study/sweep_record.h"
#include "scenarios/study/sweep_shard.h"
#include "scenarios/study/sweep_table.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

Usage usage() {
    Usage usage(
        "sweep FILE.yaml --vary key=v1,v2,... [--vary ...] [--set key=value]... [--jobs N] "
        "[--sort column] "
        "[--csv PATH|-] [--jsonl PATH|-] [--shard i/n] [--gap] [--timings] [--fold auto|off] "
        "[--no-reuse]",
        "Simulates a scenario under every combination of the given values, on all cores, and\n"
        "prints a line for each. The results do not depend on the number of jobs.",
        "podsim sweep scenarios/quickstart/llama3-70b-v5p-pod.yaml --vary "
        "batch.tokens=4Mi,8Mi,16Mi "
        "\\\n    --vary training.remat=none,matmuls,full --sort mfu:desc --jsonl sweep.jsonl",
        "The values are those of a YAML list, with or without its brackets: a value that holds a\n"
        "comma is quoted, a map is written {chip: v5p, slice: 4x4x4}.\n\n"
        "The file of --jsonl is the record: each setting is written there when it is done, in\n"
        "order. When it holds the beginning of the same sweep already, the sweep goes on from\n"
        "there; when it holds anything else, it is left alone and the sweep is refused. Ctrl-C\n"
        "finishes the settings that are running.\n\n"
        "With --shard the settings are dealt out to n machines, each with a record of its own, "
        "which\n"
        "podsim merge puts together. Under mpirun the settings are dealt out to the ranks as they\n"
        "ask for them; rank 0 keeps the record and prints.\n\n"
        "Exit status: 0 done (refused settings have an error in their line), 2 bad usage, or all\n"
        "settings are refused, 130 stopped by Ctrl-C. Expectations are judged in the lines and do\n"
        "not change the status.\n");
    usage.values("vary", "a key and its values; may be repeated");
    usage.values("set", "override one value of the scenario in all settings; may be repeated");
    usage.value(
        "jobs",
        "threads (under mpirun of each rank); the cores of this machine without it, shared by "
        "its ranks");
    usage.value("sort",
                "order of the table and the CSV: a varied key or a column of the CSV, as in mfu "
                "or mfu:desc");
    usage.value("csv", "write a table as CSV to a file, or alone to standard output (-)");
    usage.value("jsonl",
                "write the JSON of `podsim run` of each setting to a file, a line each, or alone "
                "to standard output (-)");
    usage.value("shard", "i/n: only settings i, i + n, i + 2 n, ..., i from 0 to n - 1", "0/1");
    usage.flag("gap",
               "itemise the gap to the roofline and the critical path in the JSON lines: takes "
               "several times as long");
    usage.flag(
        "timings",
        "add `wall_time_s` to the JSON lines; without it they are the same on every machine");
    usage.value("fold", "auto: simulate the chips that differ; off: simulate every chip", "auto");
    usage.flag("no-reuse",
               "play every repeated layer; the results are the same but for played_events");
    usage.positional("FILE.yaml", 1);
    return usage;
}

Sweep sweep_of(const Usage& options, const std::string& file) {
    std::vector<Varied> varied;
    for (const std::string& text : options.all("vary")) {
        varied.push_back(parse_varied(text));
    }
    if (varied.empty()) {
        throw sim::InputError("--vary is missing",
                              "write --vary key=value,value, as in --vary mesh.tensor=x%2,x%4");
    }
    std::function<double()> clock;
    if (options.is_set("timings")) {
        clock = [watch = Stopwatch()] { return watch.seconds(); };
    }
    return {file,
            options.all("set"),
            std::move(varied),
            {.fold = parse_fold(options.get("fold")),
             .step = {.reuse = !options.is_set("no-reuse"), .explain = options.is_set("gap")},
             .clock = std::move(clock)}};
}

/// This process as one of several that mpirun started.
struct Team {
    StopRequest stop;  // before the ranks, whose threads inherit the blocked signals
    std::unique_ptr<Ranks> ranks = join_ranks();
    bool ended = false;  ///< whether the others are told to end, or this rank has been
};

/// A command line, read and found good.
struct Request {
    Sweep sweep;
    SweepShard shard;
    int jobs = 1;
    std::string csv;
    std::string jsonl;
    std::optional<SortBy> sort;

    [[nodiscard]] std::size_t count() const { return shard.count(sweep.size()); }
    [[nodiscard]] bool recorded() const { return !jsonl.empty() && jsonl != "-"; }
};

Request read_request(const Usage& options) {
    const std::vector<std::string> files = options.all("FILE.yaml");
    if (files.empty()) {
        throw sim::InputError("no scenario file",
                              "usage: podsim sweep FILE.yaml --vary key=value,value");
    }
    const int jobs = parse_jobs(options);
    std::string csv = output_path(options, "csv");
    std::string jsonl = output_path(options, "jsonl");
    if (csv == "-" && jsonl == "-") {
        throw sim::InputError("--csv and --jsonl both want standard output",
                              "give one of them a path");
    }
    const SweepShard shard = read_option(options, "shard", parse_shard);
    Request request{.sweep = sweep_of(options, files.front()),
                    .shard = shard,
                    .jobs = options.has("jobs") ? jobs : threads_of_rank(jobs, launch()),
                    .csv = std::move(csv),
                    .jsonl = std::move(jsonl),
                    .sort = {}};
    if (options.has("sort")) {
        request.sort = parse_sort(options.get("sort"), request.sweep);
    }
    return request;
}

/// What the ranks of a team do with a request.
SharedWork shared_work(const Request& request, Team& team) {
    return {.jobs = request.jobs,
            .title = json_line(request.sweep.head(0)),
            .work = [&](std::size_t i) { return request.sweep.run(request.shard.setting(i)).text; },
            .stop = [&] { return team.stop.requested(); }};
}

/// Runs the settings that `rows` lacks and adds theirs, each kept before the next, until Ctrl-C.
/// With a team, on all its ranks.
template <class Keep>
void run_rest(const Request& request, Team* team, std::vector<SweepRow>& rows, std::ostream& err,
              Keep keep) {
    Progress progress(err, on_terminal(err), rows.size(), request.count());
    const auto done = [&](std::size_t, SweepLine line) {
        keep(line);
        rows.push_back(std::move(line.row));
        progress.step();
    };
    if (team != nullptr) {
        team->ended = true;
        deal_out(*team->ranks, rows.size(), request.count(), shared_work(request, *team),
                 [&](std::size_t i, const std::string& text) {
                     done(i, {sweep_row(text, request.shard.setting(i)), text});
                 });
        return;
    }
    StopRequest stop;
    run_in_order(
        rows.size(), request.count(), request.jobs,
        [&](std::size_t i) { return request.sweep.run(request.shard.setting(i)); }, done,
        [&] { return stop.requested(); });
}

/// Says what is missing, and gives the exit status. `count`: settings that there are to run.
int report_end(std::span<const SweepRow> rows, std::size_t count, bool whole, bool recorded,
               std::ostream& err) {
    const bool stopped = rows.size() < count;
    if (stopped) {
        err << fmt::format("podsim sweep: stopped after {} of {} settings; {}\n", rows.size(),
                           count,
                           recorded ? "the same command goes on from there"
                                    : "with --jsonl PATH the same command would go on from there");
    }
    const auto refused = std::ranges::count_if(rows, &SweepRow::refused);
    const auto finished = static_cast<std::ptrdiff_t>(rows.size());
    if (refused > 0) {
        err << fmt::format("podsim sweep: {} of {} settings are refused: see their errors\n",
                           refused, finished);
    }
    // Another shard may have settings that are not refused.
    return stopped ? kInterrupted : whole && refused == finished ? kBadInput : kDone;
}

/// The whole command; with a team, as its rank 0.
int sweep(const Request& request, Team* team, std::ostream& out, std::ostream& err) {
    const std::size_t count = request.count();
    std::optional<SweepRecord> record;
    std::vector<SweepRow> rows;
    if (request.recorded()) {
        record.emplace(request.sweep, request.shard, request.jsonl);
        rows = record->take_finished();
        if (!rows.empty()) {
            err << fmt::format("podsim sweep: {} holds {} of {} settings already\n", request.jsonl,
                               rows.size(), count);
        }
    }
    run_rest(request, team, rows, err, [&](const SweepLine& line) {
        if (record.has_value()) {
            record->add(line);
        } else if (request.jsonl == "-") {
            out << line.text << std::flush;
        }
    });
    const int status = report_end(rows, count, request.shard.of == 1, record.has_value(), err);
    if (request.sort.has_value()) {
        sort_rows(rows, *request.sort, request.sweep);
    }
    if (request.csv == "-") {
        out << sweep_results_csv(rows, request.sweep);
    } else if (!request.csv.empty()) {
        write_file("--csv", request.csv, sweep_results_csv(rows, request.sweep));
    }
    if (request.csv != "-" && request.jsonl != "-") {
        out << sweep_table(rows, request.sweep);
    }
    return status;
}

/// As one of several ranks: rank 0 says what there is to say.
int sweep_in_team(const Usage& options, std::ostream& out, std::ostream& err) {
    const bool first = launch().rank == 0;
    std::optional<Team> team;
    try {
        team.emplace();
    } catch (const sim::InputError&) {
        if (first) {
            throw;
        }
        return kDone;
    }
    try {
        const Request request = read_request(options);
        if (first) {
            return sweep(request, &*team, out, err);
        }
        team->ended = true;
        take_part(*team->ranks, shared_work(request, *team));
    } catch (const std::exception& error) {
        if (!team->ended) {
            give_up(*team->ranks, error.what());
        }
        if (first) {
            throw;
        }
    }
    return kDone;
}

}  // namespace

int command_sweep(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = usage();
    const bool silent = launch().rank > 0;  // rank 0 was given the same arguments
    try {
        options.parse(args);
    } catch (const sim::InputError&) {
        if (silent) {
            return kDone;
        }
        throw;
    }
    if (options.wants_help()) {
        out << (silent ? std::string() : options.help());
        return kDone;
    }
    return launch().size > 1 ? sweep_in_team(options, out, err)
                             : sweep(read_request(options), nullptr, out, err);
}

}  // namespace podsim::scenarios
