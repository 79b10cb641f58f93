#include "scenarios/src/report/program_timeline.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/report/lanes.h"

namespace podsim::scenarios {
namespace {

std::string upper(std::string text) {
    if (text == "pcie") {
        return "PCIe";
    }
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

Slice slice_of(const StageResult& stage) {
    return {
        .name = stage.name,
        .category = stage.resource,
        .start = stage.began,
        .end = stage.ended,
        .arguments = {{"bound", upper(stage.resource)}, {"bound_us", stage.bound.value() * 1e6}}};
}

TrackKind kind_of(const std::string& resource) {
    return resource == "mxu" || resource == "hbm" || resource == "vpu" ? TrackKind::ops
           : resource == "pcie"                                        ? TrackKind::transfer
                                                                       : TrackKind::collective;
}

}  // namespace

void tell_program(const Scenario& scenario, const ProgramResult& result, TimelineSink& sink) {
    sink.process({.name = "program, every chip", .end = result.time});
    sink.track({TrackKind::steps, "Steps"});
    if (result.time.ps > 0) {
        sink.slice({.name = "program",
                    .category = "step",
                    .start = {},
                    .end = result.time,
                    .arguments = {{"scenario", scenario.name}}});
    }
    std::vector<std::pair<std::string, std::vector<const StageResult*>>> resources;
    for (const StageResult& stage : result.stages) {
        auto found =
            std::ranges::find(resources, stage.resource, [](const auto& one) { return one.first; });
        if (found == resources.end()) {
            resources.push_back({stage.resource, {}});
            found = resources.end() - 1;
        }
        found->second.push_back(&stage);
    }
    for (auto& [resource, stages] : resources) {
        std::ranges::stable_sort(stages, {}, [](const StageResult* stage) { return stage->began; });
        std::vector<Interval> times;
        for (const StageResult* const stage : stages) {
            times.push_back({stage->began, stage->ended});
        }
        const std::vector<int> lanes = lanes_of(times);
        for (int lane = 0; lane <= *std::ranges::max_element(lanes); ++lane) {
            sink.track({kind_of(resource), lane == 0
                                               ? upper(resource)
                                               : fmt::format("{} #{}", upper(resource), lane + 1)});
            for (std::size_t i = 0; i < stages.size(); ++i) {
                if (lanes[i] == lane) {
                    sink.slice(slice_of(*stages[i]));
                }
            }
        }
    }
}

}  // namespace podsim::scenarios
