// Timelines of simulated steps, for their tests.
#pragma once

#include <gtest/gtest.h>
#include <string>

#include "scenarios/src/report/step_timeline.h"
#include "scenarios/src/report/timeline_json.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios::samples {

inline StepResult simulate_with_trail(const Scenario& scenario, Fold fold = Fold::automatic,
                                      bool reuse = true) {
    return simulate_step(scenario, fold, {.reuse = reuse, .explain = false, .keep_trail = true});
}

inline Timeline timeline_of(const Scenario& scenario, const StepTrail& trail, Detail detail) {
    TimelineCollector collector;
    tell_step(scenario, trail, detail, collector);
    return collector.take();
}

inline const Timeline::FilledTrack* find_track(const Timeline::FilledProcess& process,
                                               const std::string& name) {
    for (const Timeline::FilledTrack& track : process.tracks) {
        if (track.track.name == name) {
            return &track;
        }
    }
    return nullptr;
}

/// Returns a slice as `qkv 3000-8000`.
inline std::string brief(const Slice& slice) {
    return slice.name + ' ' + std::to_string(slice.start.ps) + '-' + std::to_string(slice.end.ps);
}

inline std::vector<std::string> brief(const Timeline::FilledProcess& process,
                                      const std::string& track) {
    std::vector<std::string> all;
    const Timeline::FilledTrack* const found = find_track(process, track);
    EXPECT_NE(found, nullptr) << track;
    if (found != nullptr) {
        for (const Slice& slice : found->slices) {
            all.push_back(brief(slice));
        }
    }
    return all;
}

}  // namespace podsim::scenarios::samples
