// A watch with a clock for the wall time of a run.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/report/machine_text.h"

namespace podsim::scenarios {

/// Wall time since construction.
class Stopwatch {
public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(Clock::now() - begun_).count();
    }

private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point begun_ = Clock::now();
};

class TimedWatch : public Watch {
public:
    /// Restarts the clock, so that earlier time does not count. Not allowed while something is
    /// watched.
    void begin() { stopwatch_ = {}; }
    /// Returns the time since construction or the last begin().
    [[nodiscard]] double seconds() const { return stopwatch_.seconds(); }
    /// Returns the same time, split where the explanation began.
    [[nodiscard]] WallTime wall_time() const;

private:
    void hear(const PhaseProgress& progress) final;
    /// Called from several threads at once. May throw, which ends the simulation.
    virtual void show(const PhaseProgress& progress) = 0;

    Stopwatch stopwatch_;
    mutable std::mutex mutex_;
    std::optional<double> explaining_since_;
};

}  // namespace podsim::scenarios
