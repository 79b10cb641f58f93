#include "scenarios/src/base/watch.h"

#include <algorithm>
#include <fmt/format.h>

namespace podsim::scenarios {

std::string_view to_string(Phase phase) {
    switch (phase) {
        case Phase::building:
            return "building";
        case Phase::choosing_algorithms:
            return "choosing algorithms";
        case Phase::simulating:
            return "simulating";
        case Phase::explaining:
            return "explaining";
        case Phase::calibrating:
            return "calibrating";
        case Phase::serving:
            return "serving";
        case Phase::sweeping:
            return "sweeping";
        case Phase::comparing:
            return "comparing";
        case Phase::bounding:
            return "bounding";
        case Phase::searching:
            return "searching";
    }
    return "unknown";
}

Stopped::Stopped(const PhaseProgress& reached)
    : std::runtime_error(fmt::format("stopped while {}", to_string(reached.phase))),
      reached_(reached) {}

void Watch::tell(const PhaseProgress& progress) {
    hear(progress);
    if (stop_.stop_requested()) {
        throw Stopped(progress);
    }
}

void tell(Watch* watch, Phase phase, double share) {
    if (watch != nullptr) {
        watch->tell({.phase = phase, .share = share});
    }
}

void tell_begins(Watch* watch, double most_memory_bytes) {
    if (watch != nullptr) {
        watch->tell({.phase = Phase::simulating, .most_memory_bytes = most_memory_bytes});
    }
}

void tell_reached(Watch* watch, const sim::Reached& reached) {
    if (watch == nullptr) {
        return;
    }
    const std::uint64_t all = std::max(reached.all_events, reached.events);
    watch->tell(
        {.phase = Phase::simulating,
         .share = all == 0 ? 0 : static_cast<double>(reached.events) / static_cast<double>(all),
         .simulated = reached.now,
         .events = reached.events,
         .all_events = reached.all_events,
         .played_events = reached.played});
}

PhaseWatch::PhaseWatch(Watch* outer, Phase phase)
    : Watch(stop_source_of(outer)), outer_(outer), phase_(phase) {}

QuietWatch::QuietWatch(Watch* outer) : Watch(stop_source_of(outer)), outer_(outer) {}

void QuietWatch::hear(const PhaseProgress& /*progress*/) {
    look();
}

void QuietWatch::look() {
    if (outer_ != nullptr) {
        outer_->look();
    }
}

void PhaseWatch::look() {
    if (outer_ != nullptr) {
        outer_->look();
    }
}

void PhaseWatch::hear(const PhaseProgress& progress) {
    if (outer_ != nullptr) {
        PhaseProgress as_phase = progress;
        as_phase.phase = phase_;
        outer_->tell(as_phase);
    }
}

void WatchedRun::reached(const sim::Reached& reached) {
    tell_reached(watch_, reached);
}

}  // namespace podsim::scenarios
