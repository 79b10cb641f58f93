// Watches a run from the terminal: its progress, its time, and signals that end it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <string>

#include "scenarios/src/cli/stop_request.h"
#include "scenarios/src/cli/timed_watch.h"

namespace podsim::scenarios {

/// The end of a run by a signal; reports how far the run was.
class Interrupted : public Stopped {
public:
    Interrupted(const PhaseProgress& reached, const std::string& said, int status)
        : Stopped(reached, said), status_(status) {}
    /// The exit status of the signal.
    [[nodiscard]] int status() const { return status_; }

private:
    int status_;
};

/// `[######        ] 38 %, at 0.431 s of simulated time, 31.2 million events/s, 41 s left`, redrawn
/// in place during a run if `terminal` is true. Otherwise a long run is announced once, at its
/// start.
class TerminalWatch : public TimedWatch {
public:
    TerminalWatch(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
    ~TerminalWatch() override;  ///< wipes the line
    TerminalWatch(const TerminalWatch&) = delete;
    TerminalWatch& operator=(const TerminalWatch&) = delete;

    void look() override;
    /// Returns the exit status of the signal that asked to stop, kDone without one.
    [[nodiscard]] int stop_status() const { return stop_.status(); }

private:
    /// Throws Interrupted after a signal.
    void show(const PhaseProgress& progress) override;

    std::ostream& out_;
    bool terminal_;
    bool drawn_ = false;
    bool announced_ = false;
    double memory_bytes_ = 0;  ///< of the announced run
    std::mutex mutex_;
    StopRequest stop_;
};

/// Returns `1.42e+09 events to play, 5 min ...` for a run of that size, with the rate of most
/// steps, 5 million events a second (docs/performance.md). Empty if the run takes less than half a
/// minute and less than 1 GB.
std::string announcement(std::uint64_t all_events, double memory_bytes);

/// Returns the line to draw after that many seconds.
std::string progress_line(const PhaseProgress& progress, double seconds);

}  // namespace podsim::scenarios
