#include "scenarios/src/cli/answer_search.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/base/time_limit.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/search/plan_file.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {
namespace {

/// Splits `a,b,c` at its commas.
std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        if (comma > begin) {
            parts.push_back(text.substr(begin, comma - begin));
        }
        begin = comma + 1;
    }
    return parts;
}

StepResult explained(const SearchSpace& space, const FoundPlan& plan, Watch* watch) {
    return simulate_step(space.scenario(plan.facts, plan.candidate), Fold::automatic,
                         {.watch = watch});
}

/// Parses a time from a millisecond to a year.
sim::Seconds parse_seconds(const std::string& text) {
    const double seconds = parse_number(text);
    constexpr double kYear = 365 * 86400.0;
    if (seconds < 1e-3 || seconds > kYear) {
        throw sim::InputError("out of range", "write seconds, from 0.001 to a year");
    }
    return sim::Seconds(seconds);
}

/// Adds a name of --over with its key and values, in as many rows as the width of a help needs.
void add_over_rows(Table& table, std::string_view name, std::string_view key,
                   const std::vector<std::string>& values) {
    constexpr std::size_t kWidth = 38;
    std::vector<std::string> lines{""};
    const auto add = [&](const std::string& text) {
        if (!lines.back().empty() && lines.back().size() + 1 + text.size() > kWidth) {
            lines.emplace_back();
        }
        lines.back() += (lines.back().empty() ? "" : " ") + text;
    };
    for (const std::string& value : values) {
        const std::string text = value + (&value == &values.back() ? "" : ",");
        if (text.size() <= kWidth) {
            add(text);
            continue;
        }
        std::istringstream words(text);
        for (std::string word; words >> word;) {
            add(word);
        }
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        table.row({std::string(i == 0 ? name : ""), std::string(i == 0 ? key : ""), lines[i]});
    }
}

/// Returns the names of --over with their keys and values.
std::string over_text() {
    Table table({1, 2});
    add_over_rows(table, "mesh", "mesh", {"every one over the axes of search.mesh"});
    add_over_rows(table, "slice", "hardware.slice",
                  {"those that the catalogue offers", "a quarter to twice the chips"});
    for (const OverName& each : over_names()) {
        add_over_rows(table, each.name, each.key, each.values);
    }
    return table.text(2);
}

}  // namespace

Usage search_usage() {
    Usage usage(
        "search FILE.yaml [--over name,...] [--vary key=v1,v2,...]... [--set key=value]... "
        "[--jobs N] [--seconds N] [--json PATH|-] [--write PATH] [--jsonl PATH] [--read PATH]... "
        "[--shard i/n] [--no-explain] [--fail-if-not-fit]",
        "Finds the best plan of a space, exactly: every mesh, remat, look-ahead ... that is asked\n"
        "for is simulated, or proven by a true lower bound to be no answer. The results do not\n"
        "depend on the number of jobs.",
        "podsim search scenarios/quickstart/llama3-70b-v5p-pod.yaml --set hardware.slice=8x8x8 "
        "\\\n    --set batch.tokens=2Mi --over mesh,remat --write best.yaml",
        fmt::format(
            "Names of --over, the keys that they vary, and the values that are tried:\n{}\n"
            "Objective, constraints and axes stand in the scenario's section `search` (podsim run "
            "--help lists its keys), or in\n"
            "--set search.objective=mfu. Without --over and --vary what the section says is "
            "searched; with mesh: auto the mesh;\n"
            "else {}; of a step of inference {}.\n\n",
            over_text(), fmt::join(usual_over(false), ", "), fmt::join(usual_over(true), ", ")) +
            "Plans near the best are simulated again with other rates, latency and launch costs: "
            "those\n"
            "that stay near the best under all of them are marked. Ctrl-C and --seconds end the "
            "search "
            "with the\n"
            "best until then, and say how much better another plan may be.\n\n"
            "The file of --jsonl is the record of what was simulated: the same command goes on "
            "from "
            "it.\n"
            "With --shard one of n machines simulates its part into a record of its own, and takes "
            "up\n"
            "what the others have in theirs (--read); without --shard, --read of all records gives "
            "the\n"
            "answer that one machine would have found. Under mpirun the work is dealt out to the "
            "ranks\n"
            "as they ask for it.\n\n"
            "Exit status: 0 done, 2 bad usage or bad input, or no plan fits (with "
            "--fail-if-not-fit 4, where it is\n"
            "memory alone), 130 stopped by Ctrl-C, 143 by SIGTERM or SIGHUP.\n");
    usage.values("over", "names of what varies, with its usual values; may be repeated");
    usage.offer_parts("over", names_of_over());
    usage.settings("vary", "a key and its values, as in podsim sweep; may be repeated");
    usage.settings("set", "override one value of the scenario; may be repeated");
    usage.value("jobs",
                "threads (under mpirun of each rank); the cores of this machine without it, shared "
                "by its ranks");
    usage.value(
        "seconds",
        "end the search after so many seconds with the best until then (bounds take up to two "
        "thirds of them); under mpirun what other ranks simulate then is waited for");
    usage.file("json", "write the results as JSON to a file, or alone to standard output (-)");
    usage.file("write", "write the best plan as a scenario, and the others beside it, numbered");
    usage.file("jsonl", "write each simulated candidate to a file, a line each, and go on from it");
    usage.files("read", "the --jsonl file of another search of this space; may be repeated");
    usage.value("shard",
                "i/n: simulate only the i-th part of n of the candidates, i from 0 to n - 1",
                "0/1");
    usage.flag("no-explain", "leave out why the second plan takes longer, and other rates");
    usage.flag("fail-if-not-fit", "exit status 4 where no plan of the space fits in memory");
    usage.positional("FILE.yaml", 1);
    return usage;
}

SearchSpace search_space(const Usage& options, const ScenarioSource& source) {
    std::vector<std::string> plans;
    for (std::size_t number = 2; options.has("write") && number <= kBest; ++number) {
        plans.push_back(numbered(options.get("write"), number));
    }
    std::vector<Varied> varied;
    for (const std::string& text : options.all("vary")) {
        varied.push_back(parse_varied(text));
    }
    refuse_lost_inputs(options, {&source, 1}, plans, varied);
    SearchRequest request;
    for (const std::string& list : options.all("over")) {
        std::vector<std::string> names = split(list);
        if (names.empty()) {
            throw sim::InputError("names nothing",
                                  fmt::format("allowed: {}", fmt::join(names_of_over(), ", ")),
                                  {"--over", 0, 0});
        }
        std::ranges::move(names, std::back_inserter(request.over));
    }
    request.vary = options.all("vary");
    return {source, options.all("set"), request};
}

SearchAnswer answer_search(const Usage& options, const SearchSpace& space, Watch* watch,
                           std::function<bool()> stop, Crew* crew) {
    const int jobs = parse_jobs(options);
    const SweepShard shard = read_option(options, "shard", parse_shard);
    std::optional<TrialRecord> record;
    if (options.has("jsonl") || options.has("read")) {
        record.emplace(space, TrialRecord::Paths{.own = search_paths(options).record,
                                                 .others = options.all("read"),
                                                 .others_may_be_missing = shard.of > 1});
    } else if (shard.of > 1) {
        throw sim::InputError("--shard without --jsonl",
                              "give this shard's record a path, as in --jsonl shard-0.jsonl");
    }
    std::optional<TimeLimit> limit;
    if (options.has("seconds")) {
        limit.emplace(watch, read_option(options, "seconds", parse_seconds));
        watch = &*limit;
        stop = [&limit, stop = std::move(stop)] { return limit->is_over() || stop(); };
    }
    SearchOptions how{.jobs = jobs,
                      .crew = crew,
                      .record = record ? &*record : nullptr,
                      .shard = shard,
                      .watch = watch,
                      .stop = std::move(stop)};
    how.stop_bounding = [&limit, &how] { return (limit && limit->has_bounded()) || how.stop(); };
    SearchAnswer answer;
    answer.name = space.name();
    answer.result = search(space, how);
    if (answer.result.complete) {
        answer.misses = near_misses(space, answer.result);
    }
    const std::vector<FoundPlan>& best = answer.result.best;
    if (!best.empty()) {
        answer.warnings =
            profile_warnings(space.scenario(best.front().facts, best.front().candidate).hardware);
    }
    std::ranges::copy(space.spec().left_out, std::back_inserter(answer.warnings));
    if (record) {
        std::ranges::move(record->warnings(), std::back_inserter(answer.warnings));
    }
    if (options.is_set("no-explain") || !answer.result.complete || best.size() < 2) {
        return answer;
    }
    try {
        answer.sensitivity = sensitivity(space, answer.result, jobs, watch);
        answer.runners_up = {explained(space, best[0], watch), explained(space, best[1], watch)};
    } catch (const Stopped&) {
        // The results stand without the explanation.
    }
    return answer;
}

SearchPaths search_paths(const Usage& options) {
    SearchPaths paths{.json = output_path(options, "json"),
                      .write = output_path(options, "write"),
                      .record = output_path(options, "jsonl")};
    refuse_dash("--write", paths.write);
    refuse_dash("--jsonl", paths.record);
    for (std::size_t number = 2; !paths.write.empty() && number <= kBest; ++number) {
        refuse_lost_files(options, "write", numbered(paths.write, number));
    }
    return paths;
}

std::string written_plans(const std::string& path, const SearchAnswer& answer) {
    const std::size_t plans = path.empty() ? 0 : answer.result.best.size();
    return plans == 0 ? ""
           : plans == 1
               ? fmt::format("Written to {}\n", path)
               : fmt::format("Written to {}, the others to {}{}\n", path, numbered(path, 2),
                             plans > 2 ? fmt::format(" to {}", numbered(path, plans)) : "");
}

void write_plans(const std::string& path, const SearchSpace& space, const SearchAnswer& answer) {
    if (path.empty()) {
        return;
    }
    for (std::size_t i = 0; i < answer.result.best.size(); ++i) {
        const FoundPlan& plan = answer.result.best[i];
        const std::string file = numbered(path, i + 1);
        YamlNode tree = moved(space.tree(plan.facts, plan.candidate),
                              std::filesystem::path(space.path()).parent_path(),
                              std::filesystem::path(file).parent_path());
        // Expectations are those of the scenario's own plan.
        std::erase_if(tree.entries, [](const auto& entry) { return entry.key == "expect"; });
        write_file(
            "--write", file,
            yaml_text(tree, fmt::format("Number {} of podsim search: {} a step{}\npodsim run {}",
                                        i + 1, format_time(plan.step_time.seconds()),
                                        plan.tight() ? ", tight: it may not fit" : "", file)));
    }
}

}  // namespace podsim::scenarios
