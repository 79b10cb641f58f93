// Watching a long run from the terminal: how far it is, and Ctrl-C.
#pragma once

#include <chrono>
#include <iosfwd>
#include <stdexcept>
#include <string>

#include "scenarios/cli/stop_request.h"
#include "sim/workload/observer.h"

namespace podsim::scenarios {

/// Ctrl-C has ended a run; says what was reached.
class Interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// `[######        ] 38 %, at 0.431 s of simulated time, 31.2 million events/s, 41 s left`, redrawn in place while a
/// run goes on, where `terminal` holds.
class RunWatch {
public:
    RunWatch(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
    ~RunWatch();  ///< wipes the line
    RunWatch(const RunWatch&) = delete;
    RunWatch& operator=(const RunWatch&) = delete;

    /// For sim::Observer::reached. Throws Interrupted after Ctrl-C.
    void look(const sim::Reached& reached);

private:
    using Clock = std::chrono::steady_clock;

    std::ostream& out_;
    bool terminal_;
    bool drawn_ = false;
    StopRequest stop_;
    Clock::time_point begun_ = Clock::now();
};

/// What look draws.
std::string progress_line(const sim::Reached& reached, double seconds);

/// An observer that only passes on how far a run is; `watch` may be nullptr.
class WatchedRun : public sim::Observer {
public:
    explicit WatchedRun(RunWatch* watch) : watch_(watch) {}
    [[nodiscard]] bool watches_hops() const override { return false; }
    void reached(const sim::Reached& reached) override {
        if (watch_ != nullptr) {
            watch_->look(reached);
        }
    }

private:
    RunWatch* watch_;
};

}  // namespace podsim::scenarios
