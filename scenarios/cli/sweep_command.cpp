// `podsim sweep`: a scenario under every combination of some values of its keys.
#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <span>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/commands/answer_sweep.h"
#include "scenarios/console/output.h"
#include "scenarios/console/progress.h"
#include "scenarios/console/stop_request.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Runs the settings that are missing, until Ctrl-C; their lines go to `lines`, where that is not nullptr.
void run_rest(SweepCall& call, std::ostream* lines, std::ostream& err) {
    StopRequest stop;
    Progress progress(err, on_terminal(err), call.rows().size(), call.count());
    call.run(
        [&](const SweepLine& line) {
            if (lines != nullptr) {
                *lines << line.text << std::flush;
            }
            progress.step();
        },
        [&] { return stop.requested(); });
}

/// Says what is missing, and gives the exit status.
int report_end(const SweepCall& call, std::ostream& err) {
    const std::span<const SweepRow> rows = call.rows();
    const std::size_t count = call.count();
    const bool stopped = rows.size() < count;
    if (stopped) {
        err << fmt::format(
            "podsim sweep: stopped after {} of {} settings; {}\n", rows.size(), count,
            call.is_recorded() ? "the same command goes on from there"
                               : "with --jsonl PATH the same command would go on from there");
    }
    const auto refused = std::ranges::count_if(rows, &SweepRow::refused);
    const auto finished = static_cast<std::ptrdiff_t>(rows.size());
    if (refused > 0) {
        err << fmt::format("podsim sweep: {} of {} settings are refused: see their errors\n",
                           refused, finished);
    }
    // Another shard may have settings that are not refused.
    return stopped ? kInterrupted : call.is_whole() && refused == finished ? kBadInput : kDone;
}

}  // namespace

int command_sweep(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = sweep_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    const std::vector<std::string> files = options.all("FILE.yaml");
    if (files.empty()) {
        throw sim::InputError("no scenario file",
                              "usage: podsim sweep FILE.yaml --vary key=value,value");
    }
    SweepCall call(options, files.front(), varied_keys(options));
    if (!call.rows().empty()) {
        err << fmt::format("podsim sweep: {} holds {} of {} settings already\n",
                           options.get("jsonl"), call.rows().size(), call.count());
    }
    const bool lines = options.has("jsonl") && !call.is_recorded();
    run_rest(call, lines ? &out : nullptr, err);
    const int status = report_end(call, err);
    call.sort();
    if (call.csv() == "-") {
        out << sweep_results_csv(call.rows(), call.sweep());
    } else if (!call.csv().empty()) {
        write_file("--csv", call.csv(), sweep_results_csv(call.rows(), call.sweep()));
    }
    if (call.csv() != "-" && !lines) {
        out << sweep_table(call.rows(), call.sweep());
    }
    return status;
}

}  // namespace podsim::scenarios
