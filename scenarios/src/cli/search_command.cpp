// `podsim search`: the best plan of a space.
#include <fmt/format.h>
#include <mutex>
#include <ostream>

#include "scenarios/src/base/deal.h"
#include "scenarios/src/cli/answer_search.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/team.h"
#include "scenarios/src/cli/terminal_watch.h"
#include "scenarios/src/search/plan_work.h"

namespace podsim::scenarios {
namespace {

/// Shows the progress of a search. A signal ends it: without a result if no candidate was
/// simulated, else with the results so far.
class SearchWatch final : public TimedWatch {
public:
    SearchWatch(std::ostream& err, bool terminal) : err_(err), terminal_(terminal) {}
    ~SearchWatch() override {
        if (drawn_ > 0) {
            err_ << "\r\x1b[K" << std::flush;
        }
    }
    SearchWatch(const SearchWatch&) = delete;
    SearchWatch& operator=(const SearchWatch&) = delete;

    /// True if a signal asks to stop; ends the simulations under way.
    bool stopped() {
        look();
        return stop_.requested();
    }
    void look() override {
        if (stop_.requested()) {
            request_stop();
        }
    }
    [[nodiscard]] int stop_status() const { return stop_.status(); }

private:
    void show(const PhaseProgress& progress) override {
        const std::scoped_lock lock(mutex_);
        if (stopped() && progress.phase == Phase::bounding) {
            throw Interrupted(progress, fmt::format("stopped while {}", to_string(progress.phase)),
                              stop_.status());
        }
        if (progress.phase == Phase::searching) {
            stop_.has_results();
        }
        constexpr double kQuiet = 10;
        if (!terminal_ && !announced_ && progress.phase == Phase::bounding && seconds() > kQuiet) {
            announced_ = true;
            err_ << fmt::format(
                        "podsim search: bounding its plans, {:.0f} % of them after {:.0f} s; they "
                        "are tried when that is done\n",
                        100 * progress.share, seconds())
                 << std::flush;
        }
        constexpr double kRedraw = 0.1;
        if (terminal_ && seconds() - drawn_ > kRedraw) {
            drawn_ = seconds();
            err_ << '\r' << progress_line(progress, seconds()) << "\x1b[K" << std::flush;
        }
    }

    std::ostream& err_;
    const bool terminal_;
    double drawn_ = 0;
    bool announced_ = false;
    std::mutex mutex_;
    StopRequest stop_;
};

/// Runs the whole command; with a crew, as the rank that leads it.
int search(const Usage& options, const SearchPaths& paths, const SearchSpace& space, Crew* crew,
           std::ostream& out, std::ostream& err) {
    int stopped = kDone;
    const SearchAnswer answer = [&] {
        SearchWatch watch(err, on_terminal(err));
        try {
            SearchAnswer found = answer_search(
                options, space, &watch, [&] { return watch.stopped(); }, crew);
            stopped = watch.stop_status();
            if (stopped != kDone && found.result.best.empty() && !found.result.own) {
                throw Interrupted({.phase = Phase::bounding}, "stopped before a plan was found",
                                  stopped);
            }
            return found;
        } catch (const Interrupted&) {
            throw;
        } catch (const Stopped& ended) {
            // The bounding stopped by itself before the watch threw.
            throw Interrupted(ended.reached(), ended.what(), watch.stop_status());
        }
    }();
    print_warnings(err, answer.warnings);
    if (paths.json != "-") {
        // Open MPI gives ranks terminals that nobody sees.
        out << shown(search_text(space, answer), launch().size > 1 ? Look{} : look_of(out));
    }
    if (!paths.json.empty()) {
        write_json(search_json(space, answer), paths.json, out);
    }
    write_plans(paths.write, space, answer);
    if (paths.json != "-") {
        out << written_plans(paths.write, answer);
    }
    if (stopped != kDone) {
        err << "podsim search: stopped before its end\n";
        return stopped;
    }
    if (answer.result.refused_in_all() == answer.result.enumerated) {
        space.check_any();
    }
    if (!answer.result.best.empty() || answer.result.left_to_others > 0) {
        return kDone;  // the best plan may be in another shard
    }
    if (!answer.result.complete) {
        err << "podsim search: no plan was found that fits what is asked until the search was "
               "ended; give it more --seconds, or name less\n";
        return kBadInput;
    }
    err << "podsim search: no plan of this space fits what is asked; widen it, or ask for less\n";
    // It is unknown if a plan that misses a deadline or a budget would fit.
    const bool of_memory = !answer.misses.empty() && answer.result.pruned == 0;
    return of_memory && options.is_set("fail-if-not-fit") ? kDoesNotFit : kBadInput;
}

/// Runs the search as one of several ranks; rank 0 reports.
int search_in_team(const Usage& options, Team& team, std::ostream& out, std::ostream& err) {
    const ScenarioSource source = scenario_argument(options, "search");
    const SearchPaths paths = search_paths(options);
    const SearchSpace space = search_space(options, source);
    SearchWatch watch(err, false);
    PlanWork work(space, &watch);
    const SharedWork shared{.jobs = Team::threads(options),
                            .title = space.fingerprint(),
                            .work = [&](const std::string& piece) { return work.work(piece); },
                            .stop = [&] { return watch.stopped(); }};
    team.ended = true;
    if (!team.leads()) {
        take_part(*team.ranks, shared);
        return kDone;
    }
    Dealer dealer(*team.ranks, shared);
    return search(options, paths, space, &dealer, out, err);
}

}  // namespace

int command_search(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = search_usage();
    if (!parse_in_team(options, args)) {
        return kDone;
    }
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    if (in_team()) {
        return run_in_team([&](Team& team) { return search_in_team(options, team, out, err); });
    }
    const ScenarioSource source = scenario_argument(options, "search");
    const SearchPaths paths = search_paths(options);
    return search(options, paths, search_space(options, source), nullptr, out, err);
}

}  // namespace podsim::scenarios
