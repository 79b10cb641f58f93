// A timeline as Chrome trace events, written while it is told: nothing is kept but the number of tracks.
//
// Processes and tracks are `process_name` and `thread_name` with sort indices (M), slices complete events (X), counters
// C, and flows s and f (bp e), each at the start of its slice and with its category, so that every reader binds them.
// Times are microseconds with nanoseconds as decimals, from 1 us on: Chromium's reader leaves what begins at 0 out of its bounds. Perfetto's
// importer makes whole nanoseconds of ts and of dur, each by itself to the nearest (google/perfetto @ec5d16b, json_trace_tokenizer.cc,
// CoerceToTs), and moves a slice that begins before the end of its predecessor to another track (slice_tracker.cc, MaybeCloseStack). So both are whole
// nanoseconds here: dur is the end, rounded, less the start, rounded. A slice whose ends round to one nanosecond is left out, with its flows: readers
// take it for an instant, or nest it in the next. Chromium's reader adds ts and dur as doubles: where that sum would lie
// above the end (and so perhaps above the next start), dur is a little less, which rounds to the same nanoseconds.
// Numbers of processes and threads begin at 1: readers take thread 0 for an idle processor.
// Source: "Trace Event Format", the Chromium project.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "scenarios/timeline/timeline.h"

namespace podsim::scenarios {

class TraceEvents final : public TimelineSink {
public:
    /// Begins the document; `name` is that of the scenario.
    TraceEvents(std::ostream& out, const std::string& name);
    /// Ends it.
    void finish();

    void process(const Process& process) override;
    void track(const Track& track) override;
    void slice(const Slice& slice) override;
    void counter(const Counter& counter) override;
    void sample(const Sample& sample) override;
    void flow(const Flow& flow) override;

private:
    void event(const std::string& text);
    void metadata(std::string_view name, std::size_t thread, std::string_view key,
                  const std::string& value);

    std::ostream& out_;
    bool first_ = true;
    std::size_t processes_ = 0;
    std::size_t tracks_ = 0;  ///< of the process
    std::size_t flows_ = 0;
    Counter counter_;
};

/// The duration of a slice in microseconds, for a reader of doubles: of its end and start to the nearest nanosecond the difference, or
/// the little less with which the sum of the doubles of the start and the duration is not above that of the end. In a run of less than
/// a week it rounds to the same nanoseconds.
double trace_duration(sim::Time start, sim::Time end);

}  // namespace podsim::scenarios
