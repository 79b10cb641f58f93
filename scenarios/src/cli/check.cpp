#include "scenarios/src/cli/check.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/base/format.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/scenario_files.h"
#include "scenarios/src/serve/serve_scenario.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/within_clock.h"

namespace podsim::scenarios {

namespace {

/// Returns the space of a search; none if the scenario asks for none. Throws sim::InputError.
std::optional<CheckedSearch> search_of(const ScenarioSource& source,
                                       std::span<const std::string> settings,
                                       const YamlNode& tree) {
    if (tree.find("search") == nullptr && !has_auto_mesh(tree)) {
        return std::nullopt;
    }
    const SearchSpace space(source, settings, {});
    space.check_any();
    CheckedSearch search{.name = space.name(), .varies = {}, .plans = space.plans()};
    if (space.spec().mesh) {
        search.varies.emplace_back("mesh");
    }
    for (const Varied& varied : space.spec().varied) {
        search.varies.push_back(varied.key);
    }
    return search;
}

/// Throws sim::InputError if a run would be refused, or certainly exceeds the clock's range.
void take_size_and_memory(Checked& checked, const Scenario& scenario, Watch* watch) {
    if (scenario.is_program()) {
        refuse_beyond_clock(scenario, longest_stage(scenario.hardware, scenario.program()).bound);
    }
    // The size of a run that explains its waits, which plays the most.
    checked.size = size_of_run(scenario, Fold::axes_apart, watch);
    if (!scenario.is_program()) {
        const BuiltStep built = build_step_of(scenario, nullptr, watch);
        refuse_beyond_clock(scenario, bounds_of(scenario, built).lower.time);
        checked.memory = memory_in_order(scenario, built);
    }
}

}  // namespace

std::vector<ScenarioSource> files_to_check(std::span<const ScenarioSource> named) {
    std::vector<ScenarioSource> files;
    for (const ScenarioSource& one : named) {
        try {
            const std::vector<ScenarioSource> found = files_of({&one, 1});
            files.insert(files.end(), found.begin(), found.end());
        } catch (const sim::InputError&) {
            files.push_back(one);
        }
    }
    return files;
}

Checked check(const ScenarioSource& source, std::span<const std::string> settings, Watch* watch) {
    Checked checked{.file = source.file, .name = {}, .kind = "step"};
    try {
        static_cast<void>(files_of({&source, 1}));
        YamlNode tree = read_scenario(source);
        for (const std::string& setting : settings) {
            apply_setting(tree, setting);
        }
        if (has_auto_mesh(tree)) {
            checked.kind = "search";
            checked.search = search_of(source, settings, tree);
            checked.name = checked.search->name;
            return checked;
        }
        const Scenario scenario = load_scenario(tree, source.file, Requests::any);
        checked.search = search_of(source, settings, tree);
        checked.name = scenario.name;
        checked.kind = scenario.serving != nullptr ? "serving"
                       : scenario.is_program()     ? "program"
                                                   : "step";
        if (scenario.serving != nullptr) {
            static_cast<void>(with_pages(scenario));
            return checked;
        }
        const auto began = std::chrono::steady_clock::now();
        within_clock(scenario, [&] { take_size_and_memory(checked, scenario, watch); });
        const std::chrono::duration<double> built = std::chrono::steady_clock::now() - began;
        checked.wall_time_s =
            built.count() + static_cast<double>(checked.size->events) / kEventsPerSecond;
    } catch (const sim::InputError& error) {
        checked.errors = sim::errors_in(error);
    }
    return checked;
}

bool fits(std::span<const Checked> checked) {
    return std::ranges::all_of(checked, [](const Checked& each) {
        return !each.memory.has_value() || fit_of(*each.memory) != MemoryFit::does_not_fit;
    });
}

std::string check_text(std::span<const Checked> checked) {
    std::string text;
    for (const Checked& each : checked) {
        if (!each.errors.empty()) {
            text += fmt::format("{}: {} wrong\n", each.file,
                                each.errors.size() == 1
                                    ? "one thing is"
                                    : fmt::format("{} things are", each.errors.size()));
            continue;
        }
        text += each.kind == "search"
                    ? fmt::format("{}: a search; its mesh is auto, so that no run takes it\n",
                                  each.file)
                    : fmt::format("{}: a {} that can run\n", each.file, each.kind);
        if (each.search.has_value()) {
            text += fmt::format("  podsim search goes over {}: {} {}\n",
                                fmt::join(each.search->varies, ", "), each.search->plans,
                                each.search->plans == 1 ? "plan" : "plans");
        }
        if (each.size.has_value()) {
            text += fmt::format(
                "  {} events on {} of {} chips, at most some {} and {} of memory to "
                "run\n",
                each.size->events, each.size->simulated_chips, each.size->chips,
                format_time(each.wall_time_s),
                format_bytes(sim::Bytes(each.size->most_memory_bytes)));
        }
        if (each.memory.has_value()) {
            text += "  " + memory_text(*each.memory) + '\n';
        }
    }
    return text;
}

Json check_json(std::span<const Checked> checked) {
    Json list = Json::array();
    for (const Checked& each : checked) {
        Json one = {{"file", each.file}, {"type", each.kind}, {"valid", each.errors.empty()}};
        Json errors = Json::array();
        for (const sim::InputError& error : each.errors) {
            errors.push_back(error.what());
        }
        one["errors"] = std::move(errors);
        if (each.errors.empty()) {
            one["scenario"] = each.name;
        }
        if (each.size.has_value()) {
            one["events"] = each.size->events;
            one["simulated_chips"] = each.size->simulated_chips;
            one["chips"] = each.size->chips;
            one["most_wall_time_s"] = each.wall_time_s;
            one["most_run_memory_bytes"] = each.size->most_memory_bytes;
        }
        if (each.search.has_value()) {
            one["search"] = {{"varies", each.search->varies}, {"enumerated", each.search->plans}};
        }
        if (each.memory.has_value()) {
            one["memory"] = memory_json(*each.memory);
        }
        list.push_back(std::move(one));
    }
    return {{"schema", kSchemaName}, {"kind", "check"}, {"scenarios", std::move(list)}};
}

}  // namespace podsim::scenarios
