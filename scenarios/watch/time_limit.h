// Ending a search after so much time.
#pragma once

#include <atomic>
#include <chrono>

#include "scenarios/watch/watch.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// Of the time that is asked for so much is for bounds, the rest for what they leave.
inline constexpr double kShareOfBounds = 2.0 / 3;

/// Asks the outer watch to stop once so much time has passed and a candidate has been simulated: not before, so that something is found.
class TimeLimit final : public Watch {
public:
    TimeLimit(Watch* outer, sim::Seconds limit)
        : Watch(stop_source_of(outer)),
          outer_(outer),
          end_of_bounds_(after(kShareOfBounds * limit.value())),
          end_(after(limit.value())) {}

    [[nodiscard]] bool has_bounded() const { return Clock::now() >= end_of_bounds_; }
    [[nodiscard]] bool is_over() const { return searching_ && Clock::now() >= end_; }
    void look() override {
        if (is_over()) {
            request_stop();
        }
        if (outer_ != nullptr) {
            outer_->look();
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    void hear(const PhaseProgress& progress) override {
        searching_ = searching_ || (progress.phase == Phase::searching && progress.share > 0);
        look();
        if (outer_ != nullptr) {
            outer_->tell(progress);
        }
    }

    static Clock::time_point after(double seconds) {
        return Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

    Watch* const outer_;
    const Clock::time_point end_of_bounds_;
    const Clock::time_point end_;
    std::atomic<bool> searching_ = false;
};

}  // namespace podsim::scenarios
