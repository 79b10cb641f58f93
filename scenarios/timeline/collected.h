// A whole timeline in memory: for pages, and for tests.
#pragma once

#include <vector>

#include "scenarios/timeline/timeline.h"

namespace podsim::scenarios {

struct Timeline {
    struct FilledTrack {
        Track track;
        std::vector<Slice> slices{};
    };
    struct FilledCounter {
        Counter counter;
        std::vector<Sample> samples{};
    };
    struct FilledProcess {
        Process process;
        std::vector<FilledTrack> tracks{};
        std::vector<FilledCounter> counters{};
    };
    std::vector<FilledProcess> processes{};
    std::vector<Flow> flows{};
};

class TimelineCollector final : public TimelineSink {
public:
    void process(const Process& process) override;
    void track(const Track& track) override;
    void slice(const Slice& slice) override;
    void counter(const Counter& counter) override;
    void sample(const Sample& sample) override;
    void flow(const Flow& flow) override;

    [[nodiscard]] Timeline take() { return std::move(timeline_); }

private:
    Timeline timeline_;
};

}  // namespace podsim::scenarios
