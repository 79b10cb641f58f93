// `podsim sweep`: a scenario under every combination of the given values of its keys.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <iosfwd>
#include <ostream>
#include <span>

#include "scenarios/src/base/deal.h"
#include "scenarios/src/cli/answer_sweep.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/stop_request.h"
#include "scenarios/src/cli/team.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// `[#########           ] 300 of 1000 settings, 41 s left`, redrawn in place at most ten times a
/// second. Draws nothing if `terminal` is false.
class Progress {
public:
    /// Starts with `done` of `total` finished; these do not count in the estimated speed.
    Progress(std::ostream& out, bool terminal, std::size_t done, std::size_t total);
    ~Progress();  ///< wipes the line
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void step();

private:
    using Clock = std::chrono::steady_clock;

    void draw(Clock::time_point now) const;

    std::ostream& out_;
    bool terminal_;
    std::size_t at_start_;
    std::size_t done_;
    std::size_t total_;
    Clock::time_point begun_ = Clock::now();
    Clock::time_point drawn_{};
};

Progress::Progress(std::ostream& out, bool terminal, std::size_t done, std::size_t total)
    : out_(out), terminal_(terminal), at_start_(done), done_(done), total_(total) {}

Progress::~Progress() {
    if (terminal_) {
        out_ << "\r\x1b[K" << std::flush;
    }
}

void Progress::step() {
    ++done_;
    constexpr auto kBetweenDrawings = std::chrono::milliseconds(100);
    const Clock::time_point now = Clock::now();
    if (terminal_ && now - drawn_ >= kBetweenDrawings) {
        drawn_ = now;
        draw(now);
    }
}

void Progress::draw(Clock::time_point now) const {
    constexpr std::size_t kWidth = 30;
    const std::size_t filled = kWidth * done_ / total_;
    const double each = std::chrono::duration<double>(now - begun_).count() /
                        static_cast<double>(done_ - at_start_);
    out_ << fmt::format("\r[{}{}] {} of {} settings, {:.0f} s left\x1b[K", std::string(filled, '#'),
                        std::string(kWidth - filled, ' '), done_, total_,
                        each * static_cast<double>(total_ - done_))
         << std::flush;
}

/// Ends the settings under way after a signal.
class SweepWatch final : public Watch {
public:
    SweepWatch() { stop_.has_results(); }
    void look() override {
        if (stop_.requested()) {
            request_stop();
        }
    }
    [[nodiscard]] const StopRequest& stop() const { return stop_; }

private:
    void hear(const PhaseProgress& /*progress*/) override { look(); }

    StopRequest stop_;
};

SweepCall read_call(const Usage& options, Watch* watch) {
    const std::vector<std::string> files = options.all("FILE.yaml");
    if (files.empty()) {
        throw sim::InputError("no scenario file",
                              "usage: podsim sweep FILE.yaml --vary key=value,value");
    }
    return {options, named_source(files.front()), varied_keys(options), watch};
}

/// Returns the work that the ranks of a team share.
SharedWork shared_work(const Usage& options, const SweepCall& call, Team& team) {
    return {.jobs = Team::threads(options),
            .title = json_line(call.sweep().head(0)),
            .work =
                [&](const std::string& number) {
                    return call.sweep().run(call.shard().setting(std::stoull(number))).text;
                },
            .stop = [&] { return team.stop.requested(); }};
}

/// Runs the missing settings, until a signal; on all ranks of a team if there is one. Writes their
/// lines to `lines` unless that is nullptr.
void run_rest(const Usage& options, SweepCall& call, Team* team, const StopRequest& stop,
              std::ostream* lines, std::ostream& err) {
    Progress progress(err, on_terminal(err), call.rows().size(), call.count());
    const auto done = [&](const SweepLine& line) {
        if (lines != nullptr) {
            *lines << line.text << std::flush;
        }
        progress.step();
    };
    if (team == nullptr) {
        try {
            call.run(done, [&] { return stop.requested(); });
        } catch (const Stopped&) {
            // The finished settings are in the rows.
        }
        return;
    }
    team->ended = true;
    call.run(done, SweepCall::Deal([&](const std::function<void(SweepLine)>& keep) {
                 Dealer(*team->ranks, shared_work(options, call, *team))
                     .run(
                         call.rows().size(), call.count(),
                         [](std::size_t i) { return std::to_string(i); },
                         [&](std::size_t i, const std::string& text) {
                             keep({sweep_row(text, call.shard().setting(i)), text});
                         },
                         [&] { return stop.requested(); });
             }));
}

/// Reports what is missing, and returns the exit status.
int report_end(const SweepCall& call, const StopRequest& stop, std::ostream& err) {
    const std::span<const SweepRow> rows = call.rows();
    const std::size_t count = call.count();
    const bool stopped = rows.size() < count;
    if (stopped) {
        err << fmt::format(
            "podsim sweep: stopped after {} of {} settings; {}\n", rows.size(), count,
            call.is_recorded() ? "the same command goes on from there"
                               : "with --jsonl PATH the same command would go on from there");
        if ((!call.csv().empty() && call.csv() != "-") || call.has_page()) {
            err << "podsim sweep: tables and pages of these settings alone end in .part\n";
        }
    }
    const auto refused = std::ranges::count_if(rows, &SweepRow::refused);
    const auto finished = static_cast<std::ptrdiff_t>(rows.size());
    if (refused > 0) {
        err << fmt::format("podsim sweep: {} of {} settings are refused: see their errors\n",
                           refused, finished);
    }
    // Another shard may have settings that are not refused.
    const int by_signal = stop.requested() ? stop.status() : kInterrupted;  // of another rank
    return stopped ? by_signal : call.is_whole() && refused == finished ? kBadInput : kDone;
}

/// Runs the whole command; with a team, as its rank 0.
int sweep(const Usage& options, SweepCall& call, Team* team, const StopRequest& stop,
          std::ostream& out, std::ostream& err) {
    call.take_up_record();
    print_warnings(err, call.record_warnings());
    if (!call.rows().empty()) {
        err << fmt::format("podsim sweep: {} holds {} of {} settings already\n",
                           options.get("jsonl"), call.rows().size(), call.count());
    }
    const bool lines = options.has("jsonl") && !call.is_recorded();
    run_rest(options, call, team, stop, lines ? &out : nullptr, err);
    const int status = report_end(call, stop, err);
    print_warnings(err, warnings_of(call.rows()));
    call.sort();
    if (call.csv() == "-") {
        out << sweep_results_csv(call.rows(), call.sweep());
    } else if (!call.csv().empty()) {
        write_file("--csv", call.path_so_far(call.csv()),
                   sweep_results_csv(call.rows(), call.sweep()));
    }
    call.write_page();
    if (call.csv() != "-" && !lines) {
        out << sweep_table(call.rows(), call.sweep());
    }
    return status;
}

/// Runs the sweep as one of several ranks; rank 0 reports.
int sweep_in_team(const Usage& options, Team& team, std::ostream& out, std::ostream& err) {
    SweepCall call = read_call(options, nullptr);
    if (team.leads()) {
        return sweep(options, call, &team, team.stop, out, err);
    }
    team.ended = true;
    take_part(*team.ranks, shared_work(options, call, team));
    return kDone;
}

}  // namespace

int command_sweep(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = sweep_usage();
    if (!parse_in_team(options, args)) {
        return kDone;
    }
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    if (in_team()) {
        return run_in_team([&](Team& team) { return sweep_in_team(options, team, out, err); });
    }
    SweepWatch watch;
    SweepCall call = read_call(options, &watch);
    return sweep(options, call, nullptr, watch.stop(), out, err);
}

}  // namespace podsim::scenarios
