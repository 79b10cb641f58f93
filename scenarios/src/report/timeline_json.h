// A timeline as columns, for the page that draws it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/timeline.h"

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

/// Returns `names`, `categories` and `texts` (of slices' arguments), lists that slices index, and
/// `processes` with tracks. A track has the columns `gap_ps` (from the end of the slice before to
/// the start), `duration_ps`, `name_of`, `category_of`, `text_of` and `layer_of` (-1: none). The
/// process numbered `first` comes first.
/// At most `most` slices are kept: process by process, first those of steps and layers, then
/// operations, collectives, all others, and links last. A track that does not fit is left out, and
/// `lost` gets a sentence that says so.
Json timeline_json(const Timeline& timeline, std::size_t first, std::size_t most,
                   std::vector<std::string>& lost);

/// Returns the memory counter of a process: `chip`, `series`, `at_s`, `bytes` (a list by series),
/// `end_s`. Null without one.
Json memory_json(const Timeline::FilledProcess& process, bool alone);

}  // namespace podsim::scenarios
