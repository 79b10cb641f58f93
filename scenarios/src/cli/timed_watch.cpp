#include "scenarios/src/cli/timed_watch.h"

namespace podsim::scenarios {

WallTime TimedWatch::wall_time() const {
    const std::lock_guard lock(mutex_);
    const double now = seconds();
    const double before = explaining_since_.value_or(now);
    return {.simulated_s = before, .explained_s = now - before};
}

void TimedWatch::hear(const PhaseProgress& progress) {
    if (progress.phase == Phase::explaining) {
        const std::lock_guard lock(mutex_);
        if (!explaining_since_) {
            explaining_since_ = seconds();
        }
    }
    show(progress);
}

}  // namespace podsim::scenarios
