#include "scenarios/src/advise/order_noise.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/base/format.h"
#include "scenarios/src/simulate/machine_changes.h"
#include "scenarios/src/simulate/try_changes.h"

namespace podsim::scenarios {
namespace {

constexpr double kSlower = 1.01;
constexpr double kFaster = 1 / 1.1;
constexpr double kTwice = 0.5;
constexpr std::size_t kMostTwice = 2;

struct PacedRun {
    MachineChange change;
    double longer = 1;  ///< factor by which the resource takes longer
};

std::vector<PacedRun> runs_of(const StepResult& result) {
    std::vector<PacedRun> runs;
    for (const double longer : {kSlower, kFaster}) {
        for (const MachineChange& change : paced(longer)) {
            if (change.links.empty() || std::ranges::any_of(result.links, [&](const LinkUse& use) {
                    return use.name.starts_with(change.links) && use.bytes.value() > 0;
                })) {
                runs.push_back({change, longer});
            }
        }
    }
    return runs;
}

std::vector<Trial> run_all(const Scenario& scenario, const StepResult& result,
                           std::span<const PacedRun> runs, bool reuse, int jobs, Watch* watch) {
    return try_changes(runs.size(),
                       [&](std::size_t i) {
                           Scenario changed = scenario;
                           runs[i].change.apply(changed.hardware);
                           return changed;
                       },
                       {.reuse = reuse,
                        .jobs = jobs,
                        .watch = watch,
                        .most_played = most_played_to_explain(result.played_events),
                        .all_or_none = true});
}

bool are_whole(std::span<const Trial> trials, std::span<const PacedRun> runs) {
    return trials.size() == runs.size() && (trials.empty() || !trials.back().too_long);
}

/// Returns runs, at twice the speed, of the resources that save most when they are 10 % faster.
std::vector<PacedRun> twice_as_fast(std::span<const FasterResource> faster,
                                    const StepResult& result) {
    std::vector<FasterResource> by_saving(faster.begin(), faster.end());
    std::ranges::stable_sort(by_saving, {}, &FasterResource::step_time);
    by_saving.resize(std::min(by_saving.size(), kMostTwice));
    std::erase_if(by_saving,
                  [&](const FasterResource& one) { return one.step_time >= result.step_time; });
    std::vector<PacedRun> runs;
    for (const FasterResource& one : by_saving) {
        const std::vector<MachineChange> all = paced(kTwice);
        runs.push_back({*std::ranges::find(all, one.what, &MachineChange::what), kTwice});
    }
    return runs;
}

double saved(const FasterResource& faster, const StepResult& result) {
    return 1 - faster.step_time.seconds() / result.step_time.seconds();
}

}  // namespace

std::optional<OrderNoise> order_noise(const Scenario& scenario, const StepResult& result,
                                      bool reuse, int jobs, Watch* watch) {
    if (result.played_events > kMostEventsOfOrderNoise) {
        return std::nullopt;
    }
    const std::vector<PacedRun> runs = runs_of(result);
    const std::vector<Trial> trials = run_all(scenario, result, runs, reuse, jobs, watch);
    if (!are_whole(trials, runs)) {
        return std::nullopt;
    }
    OrderNoise noise;
    const double step = result.step_time.seconds();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const sim::Time time = trials[i].step->step_time;
        const double changed = time.seconds() / step;
        const double longer = runs[i].longer;
        const double outside =
            std::max(std::min(longer, 1.0) - changed, changed - std::max(longer, 1.0));
        if (outside > noise.share) {
            noise.share = outside;
            noise.with = runs[i].change.name;
            noise.step_time = time;
        }
        if (longer < 1) {
            noise.faster.push_back({std::string(runs[i].change.what), time});
        }
    }
    const std::vector<PacedRun> further = twice_as_fast(noise.faster, result);
    const std::vector<Trial> twice = run_all(scenario, result, further, reuse, jobs, watch);
    for (std::size_t i = 0; are_whole(twice, further) && i < further.size(); ++i) {
        noise.twice.push_back({std::string(further[i].change.what), twice[i].step->step_time});
    }
    return noise;
}

std::string faster_text(const std::optional<OrderNoise>& noise, const StepResult& result) {
    if (!noise.has_value()) {
        return {};
    }
    std::vector<FasterResource> by_saving = noise->faster;
    std::ranges::stable_sort(by_saving, {}, &FasterResource::step_time);
    std::vector<std::string> texts;
    for (const FasterResource& one : by_saving) {
        const double saving = 100 * saved(one, result);
        if (saving >= 0.05) {
            // A resource's pace alone saves no more than this, even if all of the step depends on
            // it.
            const bool more = saving >= 100 * (1 - kFaster) + 0.05;
            texts.push_back(fmt::format("{} {:.1f} %{}", one.what, saving,
                                        more ? " (in part by the order of operations)" : ""));
        } else if (saving <= -0.05) {
            texts.push_back(
                fmt::format("{} {:.1f} % (slower, by the order of operations)", one.what, saving));
        } else {
            texts.push_back(fmt::format("{} nothing", one.what));
        }
    }
    if (texts.empty()) {
        return {};
    }
    std::vector<std::string> twice;
    for (const FasterResource& one : noise->twice) {
        twice.push_back(fmt::format("{} {:.1f} %", one.what, 100 * saved(one, result)));
    }
    return fmt::format("  10 % faster saves of the step: {}{}{}\n", fmt::join(texts, ", "),
                       twice.empty() ? "" : "; twice as fast: ", fmt::join(twice, ", "));
}

std::string order_noise_text(const std::optional<OrderNoise>& noise, const StepResult& result) {
    if (!noise.has_value() || noise->share < kOrderNoiseToTell) {
        return {};
    }
    const double change = noise->step_time.seconds() / result.step_time.seconds() - 1;
    return fmt::format(
        "Order: with {} the step takes {}, {:.1f} % {}, since operations and messages "
        "then meet in another order; differences below {:.1f} % are noise\n",
        noise->with, format_time(noise->step_time.seconds()), 100 * std::abs(change),
        change < 0 ? "less" : "more", 100 * noise->share);
}

Json order_noise_json(const OrderNoise& noise) {
    Json json = {{"fraction", noise.share}};
    if (!noise.with.empty()) {
        json["with"] = noise.with;
        json["step_time_s"] = decimal_seconds(noise.step_time);
    }
    return json;
}

Json faster_json(std::span<const FasterResource> faster, const StepResult& result) {
    Json list = Json::array();
    for (const FasterResource& one : faster) {
        list.push_back({{"resource", one.what},
                        {"step_time_s", decimal_seconds(one.step_time)},
                        {"saved_fraction", saved(one, result)}});
    }
    return list;
}

}  // namespace podsim::scenarios
