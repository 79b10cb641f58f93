// Watching a run from the terminal: how far it is, how long it takes, and Ctrl-C.
#pragma once

#include <iosfwd>
#include <mutex>
#include <stdexcept>
#include <string>

#include "scenarios/console/stop_request.h"
#include "scenarios/console/timed_watch.h"

namespace podsim::scenarios {

/// Ctrl-C has ended a run; says what was reached.
class Interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// `[######        ] 38 %, at 0.431 s of simulated time, 31.2 million events/s, 41 s left`, redrawn in place while a
/// run goes on, where `terminal` holds.
class TerminalWatch : public TimedWatch {
public:
    TerminalWatch(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
    ~TerminalWatch() override;  ///< wipes the line
    TerminalWatch(const TerminalWatch&) = delete;
    TerminalWatch& operator=(const TerminalWatch&) = delete;

private:
    /// Throws Interrupted after Ctrl-C.
    void show(const PhaseProgress& progress) override;

    std::ostream& out_;
    bool terminal_;
    bool drawn_ = false;
    std::mutex mutex_;
    StopRequest stop_;
};

/// What is drawn after so many seconds.
std::string progress_line(const PhaseProgress& progress, double seconds);

}  // namespace podsim::scenarios
