// `podsim search`: the best plan of a space.
#include <fmt/format.h>
#include <mutex>
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/commands/answer_search.h"
#include "scenarios/commands/common_options.h"
#include "scenarios/console/look.h"
#include "scenarios/console/output.h"
#include "scenarios/console/terminal_watch.h"

namespace podsim::scenarios {
namespace {

/// Shows how far a search is. A signal ends it: before a candidate was simulated without a result, then with what there is.
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

    /// Whether somebody has asked to stop; ends the simulations under way.
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
        constexpr double kRedraw = 0.1;
        if (terminal_ && seconds() - drawn_ > kRedraw) {
            drawn_ = seconds();
            err_ << '\r' << progress_line(progress, seconds()) << "\x1b[K" << std::flush;
        }
    }

    std::ostream& err_;
    const bool terminal_;
    double drawn_ = 0;
    std::mutex mutex_;
    StopRequest stop_;
};

}  // namespace

int command_search(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = search_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const ScenarioSource source = scenario_argument(options, "search");
    const std::string json = output_path(options, "json");
    const std::string write = plans_path(options);
    const SearchSpace space = search_space(options, source);
    int stopped = kDone;
    const SearchAnswer answer = [&] {
        SearchWatch watch(err, on_terminal(err));
        SearchAnswer found = answer_search(options, space, &watch, [&] { return watch.stopped(); });
        stopped = watch.stop_status();
        return found;
    }();
    if (json != "-") {
        out << shown(search_text(space, answer), look_of(out));
    }
    if (!json.empty()) {
        write_json(search_json(space, answer), json, out);
    }
    write_plans(write, space, answer);
    if (stopped != kDone) {
        err << "podsim search: stopped before its end\n";
        return stopped;
    }
    return answer.result.best.empty() ? kBadInput : kDone;
}

}  // namespace podsim::scenarios
