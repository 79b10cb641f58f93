#include "scenarios/timeline/collected.h"

namespace podsim::scenarios {

void TimelineCollector::process(const Process& process) {
    timeline_.processes.push_back({.process = process});
}

void TimelineCollector::track(const Track& track) {
    timeline_.processes.back().tracks.push_back({.track = track});
}

void TimelineCollector::slice(const Slice& slice) {
    timeline_.processes.back().tracks.back().slices.push_back(slice);
}

void TimelineCollector::counter(const Counter& counter) {
    timeline_.processes.back().counters.push_back({.counter = counter});
}

void TimelineCollector::sample(const Sample& sample) {
    timeline_.processes.back().counters.back().samples.push_back(sample);
}

void TimelineCollector::flow(const Flow& flow) {
    timeline_.flows.push_back(flow);
}

}  // namespace podsim::scenarios
