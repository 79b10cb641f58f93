#include "scenarios/src/base/run_limit.h"

namespace podsim::scenarios {

void RunLimit::look() {
    outer_.look();
    if (outer_.stop_token().stop_requested()) {
        request_stop();
    }
}

void RunLimit::hear(const PhaseProgress& progress) {
    outer_.tell(progress);
    if (progress.phase != Phase::simulating) {
        return;
    }
    played_ = progress.played_events;
    if (progress.all_events > most_events_ || progress.played_events > most_played_) {
        exceeded_ = true;
        request_stop();
    }
}

}  // namespace podsim::scenarios
