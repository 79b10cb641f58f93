#include "scenarios/src/search/near_misses.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/advise/memory_remedies.h"
#include "scenarios/src/advise/suggestions.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/search/memory_fit.h"
#include "scenarios/src/simulate/estimate_step.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

NearMiss look_at(const SearchSpace& space, const Miss& miss) {
    NearMiss near{.facts = miss.facts, .candidate = {.mesh = miss.mesh}};
    const Scenario scenario = space.scenario(near.facts, near.candidate);
    OrderedMemory memory = memory_in_order(scenario, build_step_of(scenario));
    near.peak = std::max(memory.peak, sim::Bytes(miss.facts.least_peak));
    near.over = bytes_over(space.spec().asked, near.peak.value(), near.facts.capacity);
    near.at_peak = std::move(memory.at_peak);
    return near;
}

/// True for one setting on meshes of the same sizes: a report of both would say nothing more.
bool are_alike(const SearchSpace& space, const NearMiss& one, const NearMiss& other) {
    const MeshSpace* const meshes = space.meshes(one.facts.setting);
    return one.facts.setting == other.facts.setting &&
           &meshes->class_of(one.candidate.mesh) == &meshes->class_of(other.candidate.mesh);
}

void add_changes(const SearchSpace& space, NearMiss& near) {
    const Scenario scenario = space.scenario(near.facts, near.candidate);
    // The changes need only this much of a step, which was not simulated.
    StepResult step;
    step.memory.peak = near.peak;
    step.memory.capacity = sim::Bytes(near.facts.capacity);
    const workloads::Overlap in_force = build_step_of(scenario).plan.overlap;
    step.prefetch_layers = in_force.prefetch_layers;
    step.fetch_layers = step.asked_fetch = in_force.fetch_layers;
    step.chips = near.facts.chips;
    near.remedies = remedies_in_order(scenario, step);
}

/// Names the largest classes of the held bytes, as many as make nine tenths of these.
std::string classes_text(const NearMiss& near) {
    auto classes = near.at_peak;
    std::ranges::stable_sort(classes, std::greater{},
                             [](const auto& one) { return one.second.value(); });
    sim::Bytes all;
    for (const auto& [name, bytes] : classes) {
        all += bytes;
    }
    std::vector<std::string> texts;
    sim::Bytes said;
    for (const auto& [name, bytes] : classes) {
        constexpr double kMost = 0.9;
        if (said.value() < kMost * all.value()) {
            texts.push_back(fmt::format("{} {}", name, format_bytes(bytes)));
        }
        said += bytes;
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::vector<NearMiss> near_misses(const SearchSpace& space, const SearchResult& result) {
    std::vector<NearMiss> nearest;
    if (!result.best.empty()) {
        return nearest;
    }
    for (const Miss& miss : result.misses) {
        const double least =
            bytes_over(space.spec().asked, miss.facts.least_peak, miss.facts.capacity);
        if (nearest.size() == kNearMisses && nearest.back().over <= least) {
            break;
        }
        NearMiss near;
        try {
            near = look_at(space, miss);
        } catch (const sim::InputError&) {
            continue;  // its operations cannot be put in order
        }
        const auto same = std::ranges::find_if(
            nearest, [&](const NearMiss& other) { return are_alike(space, near, other); });
        if (same != nearest.end() && same->over <= near.over) {
            continue;
        }
        if (same != nearest.end()) {
            nearest.erase(same);
        }
        nearest.insert(std::ranges::upper_bound(nearest, near.over, {}, &NearMiss::over),
                       std::move(near));
        nearest.resize(std::min(nearest.size(), kNearMisses));
    }
    for (NearMiss& near : nearest) {
        add_changes(space, near);
    }
    return nearest;
}

std::string near_misses_text(const SearchSpace& space, const std::vector<NearMiss>& misses) {
    if (misses.empty()) {
        return "";
    }
    std::string text =
        "\nThe nearest, with operations in program order, and single changes with which they would "
        "fit\n";
    for (const NearMiss& miss : misses) {
        text += fmt::format("  {} too much: {} of {} a chip ({})\n    {}\n",
                            format_bytes(sim::Bytes(miss.over)), format_bytes(miss.peak),
                            format_bytes(sim::Bytes(miss.facts.capacity)), classes_text(miss),
                            options_text(space.set(miss.facts, miss.candidate)));
        std::vector<std::string> changes;
        for (const Remedy& remedy : miss.remedies.each) {
            changes.push_back(remedy.text);
        }
        text += changes.empty()
                    ? "    no single change that was tried makes it fit\n"
                    : fmt::format("    would fit with {}\n", fmt::join(changes, "; or "));
    }
    return text;
}

Json near_misses_json(const SearchSpace& space, const std::vector<NearMiss>& misses) {
    Json list = Json::array();
    for (const NearMiss& miss : misses) {
        Json json{{"set", space.set(miss.facts, miss.candidate)},
                  {"peak_bytes", miss.peak.value()},
                  {"capacity_bytes", miss.facts.capacity},
                  {"over_bytes", miss.over},
                  {"chips", miss.facts.chips}};
        Json& at_peak = json["at_peak_bytes"] = Json::object();
        for (const auto& [name, bytes] : miss.at_peak) {
            at_peak[name] = bytes.value();
        }
        Json& remedies = json["remedies"] = Json::array();
        for (const Remedy& remedy : miss.remedies.each) {
            remedies.push_back({{"meaning", remedy.text},
                                {"set", remedy.set},
                                {"peak_bytes", remedy.peak.value()},
                                {"simulated", remedy.simulated}});
        }
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace podsim::scenarios
