// Ends a search after a given time.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "scenarios/src/base/watch.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// Fraction of the time that is for bounds; the rest is for the candidates that they leave.
inline constexpr double kShareOfBounds = 2.0 / 3;
/// Extra time for a search that has found nothing within its time.
inline constexpr sim::Seconds kGraceOfLimit(0.5);

/// Asks the outer watch to stop once the time has passed and a candidate has been simulated, so
/// that the search finds something; or once the grace time has passed too. `now` returns the
/// seconds since any instant, by a clock that never goes back.
class TimeLimit final : public Watch {
public:
    using Now = std::function<double()>;

    TimeLimit(Watch* outer, sim::Seconds limit, Now now = steady_seconds)
        : Watch(stop_source_of(outer)),
          outer_(outer),
          now_(std::move(now)),
          begun_(now_()),
          limit_(limit.value()) {}

    [[nodiscard]] bool has_bounded() const { return passed() >= kShareOfBounds * limit_; }
    [[nodiscard]] bool is_over() const {
        return passed() >= limit_ + (searching_ ? 0 : kGraceOfLimit.value());
    }
    void look() override {
        if (is_over()) {
            request_stop();
        }
        if (outer_ != nullptr) {
            outer_->look();
        }
    }

private:
    void hear(const PhaseProgress& progress) override {
        searching_ = searching_ || (progress.phase == Phase::searching && progress.share > 0);
        look();
        if (outer_ != nullptr) {
            outer_->tell(progress);
        }
    }

    [[nodiscard]] double passed() const { return now_() - begun_; }
    static double steady_seconds() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }

    Watch* const outer_;
    const Now now_;
    const double begun_;
    const double limit_;
    std::atomic<bool> searching_ = false;
};

}  // namespace podsim::scenarios
