// Watching a run from the terminal: how far it is, how long it takes, and signals that end it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <string>

#include "scenarios/console/stop_request.h"
#include "scenarios/console/timed_watch.h"

namespace podsim::scenarios {

/// A signal has ended a run; says what was reached.
class Interrupted : public Stopped {
public:
    Interrupted(const PhaseProgress& reached, const std::string& said, int status)
        : Stopped(reached, said), status_(status) {}
    /// The exit status of the signal.
    [[nodiscard]] int status() const { return status_; }

private:
    int status_;
};

/// `[######        ] 38 %, at 0.431 s of simulated time, 31.2 million events/s, 41 s left`, redrawn in place while a
/// run goes on, where `terminal` holds; elsewhere a long run is announced once, as it begins.
class TerminalWatch : public TimedWatch {
public:
    TerminalWatch(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
    ~TerminalWatch() override;  ///< wipes the line
    TerminalWatch(const TerminalWatch&) = delete;
    TerminalWatch& operator=(const TerminalWatch&) = delete;

    void look() override;
    /// The exit status of the signal that has asked to stop, kDone without one.
    [[nodiscard]] int stop_status() const { return stop_.status(); }

private:
    /// Throws Interrupted after a signal.
    void show(const PhaseProgress& progress) override;

    std::ostream& out_;
    bool terminal_;
    bool drawn_ = false;
    bool announced_ = false;
    double memory_bytes_ = 0;  ///< of the run that is announced
    std::mutex mutex_;
    StopRequest stop_;
};

/// Of a run of so many events, at 5 million a second, as most steps (docs/performance.md), that takes up to so much memory:
/// `1.42e+09 events to play, 5 min ...`. Nothing for what takes less than half a minute and less than 1 GB.
std::string announcement(std::uint64_t all_events, double memory_bytes);

/// What is drawn after so many seconds.
std::string progress_line(const PhaseProgress& progress, double seconds);

}  // namespace podsim::scenarios
