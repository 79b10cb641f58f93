#include "scenarios/page/run_page.h"

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/advice/memory_report.h"
#include "scenarios/page/inputs_json.h"
#include "scenarios/page/roofline_json.h"
#include "scenarios/page/timeline_json.h"
#include "scenarios/page/torus_json.h"
#include "scenarios/timeline/step_timeline.h"

namespace podsim::scenarios {
namespace {

/// The chip whose memory is reported.
std::size_t fullest(const Timeline& timeline, const MemoryUse& memory) {
    const auto found =
        std::ranges::find_if(timeline.processes, [&](const Timeline::FilledProcess& process) {
            return process.process.stage == memory.stage && process.process.member == memory.member;
        });
    return found == timeline.processes.end()
               ? 0
               : static_cast<std::size_t>(found - timeline.processes.begin());
}

}  // namespace

Page step_page(const Scenario& scenario, const StepResult& result, const Json& json,
               const YamlNode& tree, std::size_t most) {
    const StepTrail& trail = *result.trail;
    TimelineCollector collector;
    tell_step(scenario, trail, Detail::steady, collector);
    const Timeline timeline = collector.take();
    std::vector<std::string> lost;
    Page page{.kind = "run", .title = scenario.name, .result = json};
    page.extra["timeline"] = timeline_json(timeline, trail.run.program, most, lost);
    page.extra["memory"] = memory_json(timeline.processes[fullest(timeline, result.memory)],
                                       timeline.processes.size() == 1);
    page.extra["roofline"] = roofline_json(scenario, result, trail);
    page.extra["torus"] = torus_json(scenario, trail);
    if (page.extra["torus"].is_null()) {
        lost.emplace_back("The slice is too large to be drawn link by link.");
    }
    page.extra["fit"] = memory_words(result.memory);
    page.extra["look_ahead"] = look_ahead_words(result);
    page.extra["inputs"] = inputs_json(scenario, tree);
    page.extra["thinned"] = lost;
    return page;
}

Page program_page(const Scenario& scenario, const Json& json) {
    return {.kind = "program", .title = scenario.name, .result = json};
}

}  // namespace podsim::scenarios
