#include "scenarios/report/trace_json.h"

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/program/axis_names.h"

namespace podsim::scenarios {

Json trace_json(const Scenario& scenario, const StepResult& result) {
    // The compute stream first, then the collectives by urgency; others as they come.
    std::vector<std::string> tracks = {"compute", workloads::axis::tensor, workloads::axis::context,
                                       "weights", "gradients"};
    Json events = Json::array();
    events.push_back(
        {{"name", "process_name"}, {"ph", "M"}, {"pid", 0}, {"args", {{"name", scenario.name}}}});
    const auto track_id = [&](const std::string& track) {
        auto found = std::ranges::find(tracks, track);
        if (found == tracks.end()) {
            tracks.push_back(track);
            found = tracks.end() - 1;
        }
        return found - tracks.begin();
    };
    for (const Span& span : result.spans) {
        constexpr double kPicosecondsPerMicrosecond = 1e6;
        events.push_back({{"name", span.name},
                          {"cat", span.track},
                          {"ph", "X"},
                          {"pid", 0},
                          {"tid", track_id(span.track)},
                          {"ts", static_cast<double>(span.start.ps) / kPicosecondsPerMicrosecond},
                          {"dur", static_cast<double>((span.end - span.start).ps) /
                                      kPicosecondsPerMicrosecond}});
    }
    for (std::size_t i = 0; i < tracks.size(); ++i) {
        events.push_back({{"name", "thread_name"},
                          {"ph", "M"},
                          {"pid", 0},
                          {"tid", i},
                          {"args", {{"name", tracks[i]}}}});
    }
    return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

}  // namespace podsim::scenarios
