// A file with a timeline's trace events.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "scenarios/src/report/timeline.h"

namespace podsim::scenarios {

// A timeline as Chrome trace events, written as they arrive: only the number of tracks is kept.
//
// Processes and tracks are `process_name` and `thread_name` with sort indices (M), slices complete
// events (X), counters C, and flows s and f (bp e). A flow is at the start of its slice and has its
// category, so that every reader binds them. Numbers of processes and threads begin at 1: readers
// take thread 0 for an idle processor.
//
// Times are microseconds with nanoseconds as decimals, from 1 us on: Chromium's reader leaves
// events that begin at 0 out of its bounds. Perfetto's importer rounds ts and dur separately to the
// nearest nanosecond (google/perfetto @ec5d16b, json_trace_tokenizer.cc, CoerceToTs). It moves a
// slice that begins before the end of its predecessor to another track (slice_tracker.cc,
// MaybeCloseStack). So both are whole nanoseconds here: dur is the rounded end less the rounded
// start. A slice whose ends round to the same nanosecond is left out, with its flows: readers take
// it for an instant, or nest it in the next. Chromium's reader adds ts and dur as doubles. If that
// sum would lie above the end (and so perhaps above the next start), dur is slightly less, and
// still rounds to the same nanoseconds.
// Source: "Trace Event Format", the Chromium project.

class TraceEvents final : public TimelineSink {
public:
    /// Begins the document; `name` is the scenario's.
    TraceEvents(std::ostream& out, const std::string& name);
    /// Ends the document.
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

/// Returns the duration of a slice in microseconds, for a reader that computes with doubles. It is
/// the difference of end and start, each rounded to the nearest nanosecond, or slightly less, so
/// that start plus duration, as doubles, does not exceed the end. In a run of less than a week it
/// rounds to the same nanoseconds.
double trace_duration(sim::Time start, sim::Time end);

/// Writes the timeline that `tell` emits to the file of --trace, compressed (gzip) if the path ends
/// in `.gz`. `name` is the scenario's. Throws cannot_write if the file is not written in full.
void write_event_file(const std::string& path, const std::string& name,
                      const std::function<void(TimelineSink&)>& tell);

}  // namespace podsim::scenarios
