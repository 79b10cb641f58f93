// Watching a run from the terminal: how far it is, how long it takes, and Ctrl-C.
#pragma once

#include <chrono>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "scenarios/console/stop_request.h"
#include "scenarios/report/machine_text.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

/// Time on the wall since it was made.
class Stopwatch {
public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(Clock::now() - begun_).count();
    }

private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point begun_ = Clock::now();
};

/// Ctrl-C has ended a run; says what was reached.
class Interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// `[######        ] 38 %, at 0.431 s of simulated time, 31.2 million events/s, 41 s left`, redrawn in place while a
/// run goes on, where `terminal` holds.
class TerminalWatch : public Watch {
public:
    TerminalWatch(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
    ~TerminalWatch() override;  ///< wipes the line
    TerminalWatch(const TerminalWatch&) = delete;
    TerminalWatch& operator=(const TerminalWatch&) = delete;

    /// Since it was made.
    [[nodiscard]] double seconds() const { return stopwatch_.seconds(); }
    /// The same, in what came before something was explained, and since.
    [[nodiscard]] WallTime wall_time() const;

private:
    /// Throws Interrupted after Ctrl-C.
    void hear(const PhaseProgress& progress) override;

    std::ostream& out_;
    bool terminal_;
    bool drawn_ = false;
    StopRequest stop_;
    Stopwatch stopwatch_;
    mutable std::mutex mutex_;
    std::optional<double> explaining_since_;
};

/// What is drawn after so many seconds.
std::string progress_line(const PhaseProgress& progress, double seconds);

}  // namespace podsim::scenarios
