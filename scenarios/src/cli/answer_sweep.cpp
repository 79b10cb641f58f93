#include "scenarios/src/cli/answer_sweep.h"

#include <utility>

#include "scenarios/src/base/parallel.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/report_option.h"
#include "scenarios/src/cli/timed_watch.h"
#include "scenarios/src/study/sweep_page.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Number of points that a browser draws without delay.
constexpr std::size_t kMostSettingsShown = 5000;

Sweep sweep_of(const Usage& options, const ScenarioSource& source, std::vector<Varied> varied,
               Watch* watch) {
    if (varied.empty()) {
        throw sim::InputError("--vary is missing",
                              "write --vary key=value,value, as in --vary mesh.tensor=x%2,x%4");
    }
    std::function<double()> clock;
    if (options.is_set("timings")) {
        clock = [watch = Stopwatch()] { return watch.seconds(); };
    }
    return {source,
            options.all("set"),
            std::move(varied),
            {.fold = parse_fold(options.get("fold")),
             .step = {.reuse = !options.is_set("no-reuse"),
                      .explain = options.is_set("gap"),
                      .watch = watch},
             .clock = std::move(clock)}};
}

}  // namespace

Usage sweep_usage() {
    Usage usage(
        "sweep FILE.yaml --vary key=v1,v2,... [--vary ...] [--set key=value]... [--jobs N] "
        "[--sort column] "
        "[--csv PATH|-] [--jsonl PATH|-] [--report PATH] [--shard i/n] [--gap] [--timings] [--fold "
        "auto|off] "
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
        "there; when it holds anything else, it is left alone and the sweep is refused. Ctrl-C "
        "and\n"
        "SIGTERM end the settings that are running; the same command runs them again.\n\n"
        "With --shard the settings are dealt out to n machines, each with a record of its own, "
        "which\n"
        "podsim merge puts together. Under mpirun the settings are dealt out to the ranks as they\n"
        "ask for them; rank 0 keeps the record and prints.\n\n"
        "Exit status: 0 done (refused settings have an error in their line), 2 bad usage, or all\n"
        "settings are refused, 130 stopped by Ctrl-C, 143 by SIGTERM or SIGHUP. Expectations are\n"
        "judged in the lines and do not change the status.\n");
    usage.settings("vary", "a key and its values; may be repeated");
    usage.settings("set", "override one value of the scenario in all settings; may be repeated");
    usage.value(
        "jobs",
        "threads (under mpirun of each rank); the cores of this machine without it, shared by "
        "its ranks");
    usage.value("sort",
                "order of the table and the CSV: a varied key, in the order of its values, or a "
                "column of the CSV, as in mfu or mfu:desc");
    usage.offer("sort", sweep_column_names());
    usage.file(
        "csv",
        "write a table as CSV to a file, or alone to standard output (-); a text that begins "
        "with = + - @ has an apostrophe before it, so that spreadsheets take it for text");
    usage.file("jsonl",
               "write the JSON of `podsim run` of each setting to a file, a line each, or alone "
               "to standard output (-)");
    add_report_option(usage);
    usage.value("shard", "i/n: only settings i, i + n, i + 2 n, ..., i from 0 to n - 1", "0/1");
    usage.flag("gap",
               "itemise the gap to the roofline and the critical path in the JSON lines: takes "
               "several times as long");
    usage.flag(
        "timings",
        "add `wall_time_s` to the JSON lines; without it they are the same on every machine");
    add_fold_option(usage);
    usage.flag("no-reuse",
               "play every repeated layer; the results are the same but for played_events");
    usage.positional("FILE.yaml", 1);
    return usage;
}

std::vector<Varied> varied_keys(const Usage& options) {
    std::vector<Varied> varied;
    for (const std::string& text : options.all("vary")) {
        varied.push_back(parse_varied(text));
    }
    return varied;
}

SweepCall::SweepCall(const Usage& options, const ScenarioSource& source, std::vector<Varied> varied,
                     Watch* watch)
    : watch_(watch),
      pieces_(watch),
      jobs_(parse_jobs(options)),
      csv_(output_path(options, "csv")),
      jsonl_(output_path(options, "jsonl")),
      report_(report_path(options)),
      shard_(read_option(options, "shard", parse_shard)),
      sweep_(sweep_of(options, source, std::move(varied), &pieces_)) {
    if (csv_ == "-" && jsonl_ == "-") {
        throw sim::InputError("--csv and --jsonl both want standard output",
                              "give one of them a path");
    }
    refuse_lost_inputs(options, {&source, 1}, {}, sweep_.varied());
    if (options.has("sort")) {
        sort_ = parse_sort(options.get("sort"), sweep_);
    }
}

void SweepCall::take_up_record() {
    if (!jsonl_.empty() && jsonl_ != "-") {
        record_.emplace(sweep_, shard_, jsonl_);
        rows_ = record_->take_finished();
        if (std::string warning = record_->warning(); !warning.empty()) {
            record_warnings_.push_back(std::move(warning));
        }
    }
}

void SweepCall::run(const Done& done, const Deal& deal) {
    deal([&](SweepLine line) {
        if (record_.has_value()) {
            record_->add(line);
        }
        done(line);
        rows_.push_back(std::move(line.row));
        tell(watch_, Phase::sweeping,
             static_cast<double>(rows_.size()) / static_cast<double>(count()));
    });
}

void SweepCall::run(const Done& done, const std::function<bool()>& stop) {
    run(done, [&](const std::function<void(SweepLine)>& keep) {
        run_in_order(
            rows_.size(), count(), jobs_,
            [&](std::size_t i) { return sweep_.run(shard_.setting(i)); },
            [&](std::size_t, SweepLine line) { keep(std::move(line)); }, stop);
    });
}

std::string SweepCall::path_so_far(const std::string& path) const {
    return rows_.size() < count() ? path + ".part" : path;
}

void SweepCall::write_page() const {
    if (report_.empty()) {
        return;
    }
    write_fitting_report(path_so_far(report_), kMostSettingsShown, [&](std::size_t most) {
        return sweep_page(rows_, sweep_, sweep_.title(), most);
    });
}

void SweepCall::sort() {
    if (sort_.has_value()) {
        sort_rows(rows_, *sort_, sweep_);
    }
}

}  // namespace podsim::scenarios
