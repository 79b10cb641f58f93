// A watch with a clock: what a run takes on the wall.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

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

class TimedWatch : public Watch {
public:
    /// Starts the clock anew, where what came before is not to be counted. Not while something is watched.
    void begin() { stopwatch_ = {}; }
    /// Since it was made, or last begun.
    [[nodiscard]] double seconds() const { return stopwatch_.seconds(); }
    /// The same, in what came before something was explained, and since.
    [[nodiscard]] WallTime wall_time() const;

private:
    void hear(const PhaseProgress& progress) final;
    /// May come from several threads at once. May throw, which ends the simulation.
    virtual void show(const PhaseProgress& progress) = 0;

    Stopwatch stopwatch_;
    mutable std::mutex mutex_;
    std::optional<double> explaining_since_;
};

}  // namespace podsim::scenarios
