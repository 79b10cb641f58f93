#include "scenarios/src/advise/suggestions.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "scenarios/src/advise/memory_remedies.h"
#include "scenarios/src/advise/mesh_moves.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/try_changes.h"

namespace podsim::scenarios {
namespace {

/// Simulations of the scenario's tree with changes.
class Trials {
public:
    Trials(const ScenarioSource& source, std::span<const std::string> settings,
           const StepResult& result, bool reuse, int jobs, Watch* watch, const TrialLimits& limits)
        : path_(source.file),
          tree_(read_scenario(source)),
          options_{.reuse = reuse,
                   .jobs = jobs,
                   .watch = watch,
                   .memory = &memory_,
                   .may_be_refused = true} {
        for (const std::string& setting : settings) {
            apply_setting(tree_, setting);
        }
        if (!limits.none) {
            options_.most_events = std::max(kMostTimesTheEvents * result.events, kFewEvents);
            options_.most_played = most_played_to_explain(result.played_events);
            options_.most_played_in_all =
                limits.most_played.value_or(kMostTimesPlayedInAll * options_.most_played);
        }
    }

    /// True if a rule lays out the sizes of a mesh (mesh_mapping); factors need none.
    [[nodiscard]] bool mapped() const { return tree_.find("mesh_mapping") != nullptr; }
    /// Changes that were too large to be tried, or that came after all permitted events had been
    /// played.
    [[nodiscard]] const std::vector<PlanChange>& not_tried() const { return not_tried_; }

    /// Simulates the changes and returns those that are allowed and were tried, in their order.
    std::vector<Suggestion> simulated(const std::vector<PlanChange>& changes) {
        std::vector<Suggestion> all;
        std::vector<Trial> trials;
        if (played_ <= options_.most_played_in_all) {
            TryOptions options = options_;
            options.most_played_in_all -= played_;
            trials = try_changes(
                changes.size(), [&](std::size_t i) { return changed(changes[i]); }, options);
        }
        for (std::size_t i = 0; i < changes.size(); ++i) {
            if (i >= trials.size() || trials[i].too_long) {
                not_tried_.push_back(changes[i]);
            } else if (trials[i].step) {
                all.push_back({changes[i], trials[i].step->step_time, trials[i].step->memory});
            }
            played_ += i < trials.size() ? trials[i].played : 0;
        }
        return all;
    }

private:
    [[nodiscard]] Scenario changed(const PlanChange& change) const {
        YamlNode tree = tree_;
        for (const std::string& setting : change.set) {
            apply_setting(tree, setting);
        }
        return load_scenario(tree, path_);
    }

    const std::string path_;
    YamlNode tree_;
    StepMemory memory_;
    TryOptions options_;
    std::uint64_t played_ = 0;
    std::vector<PlanChange> not_tried_;
};

double gain(const Suggestion& suggestion, const StepResult& result) {
    return static_cast<double>((result.step_time - suggestion.step_time).ps) /
           static_cast<double>(result.step_time.ps);
}

bool is_faster(const Suggestion& suggestion, const StepResult& result) {
    const MemoryUse& memory = suggestion.memory;
    return (memory.fits || memory.tight) && (!memory.tight || memory.peak <= result.memory.peak) &&
           suggestion.step_time.seconds() < (1 - kLeastGain) * result.step_time.seconds();
}

std::vector<Suggestion> faster_of(std::vector<Suggestion> all, const StepResult& result) {
    std::erase_if(all, [&](const Suggestion& one) { return !is_faster(one, result); });
    return all;
}

/// Returns the fastest of each kind.
std::vector<Suggestion> best_of_kinds(const std::vector<Suggestion>& all) {
    std::vector<Suggestion> best;
    for (const Suggestion& one : all) {
        const auto same = std::ranges::find_if(
            best, [&](const Suggestion& other) { return other.change.kind == one.change.kind; });
        if (same == best.end()) {
            best.push_back(one);
        } else if (one.step_time < same->step_time) {
            *same = one;
        }
    }
    std::ranges::stable_sort(best, {}, &Suggestion::step_time);
    return best;
}

PlanChange together(std::span<const Suggestion> parts) {
    PlanChange sum{"together", {}, {}};
    for (const Suggestion& one : parts) {
        sum.set.insert(sum.set.end(), one.change.set.begin(), one.change.set.end());
        sum.meaning += (sum.meaning.empty() ? "" : ", ") + one.change.kind;
    }
    sum.meaning += " together";
    return sum;
}

/// Returns the fastest combination of the first two, the first three, ... of them, without those
/// that gain nothing in it: tensor collectives between segments of matmuls do nothing for a mesh
/// without tensor ways. Returns none if fewer than two are left.
std::optional<Suggestion> best_together(Trials& trials, const std::vector<Suggestion>& best,
                                        const StepResult& result) {
    std::optional<Suggestion> found;
    std::vector<Suggestion> parts;
    std::vector<PlanChange> sums;
    for (std::size_t count = 2; count <= best.size(); ++count) {
        sums.push_back(together(std::span(best).first(count)));
    }
    for (const Suggestion& sum : faster_of(trials.simulated(sums), result)) {
        if (!found || sum.step_time < found->step_time) {
            found = sum;
            const auto count = std::ranges::find(sums, sum.change.meaning, &PlanChange::meaning);
            parts.assign(best.begin(), best.begin() + 2 + (count - sums.begin()));
        }
    }
    for (std::size_t i = parts.size(); i-- > 0 && parts.size() > 1;) {
        std::vector<Suggestion> fewer = parts;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        const std::vector<Suggestion> without =
            faster_of(trials.simulated({together(fewer)}), result);
        if (!without.empty() && without.front().step_time <= found->step_time) {
            parts = std::move(fewer);
            found = without.front();
        }
    }
    return parts.size() < 2 ? std::nullopt : found;
}

}  // namespace

std::string options_text(std::span<const std::string> settings) {
    std::vector<std::string> options;
    for (const std::string& setting : settings) {
        const bool plain = setting.find_first_of(" {}[]*") == std::string::npos;
        const char* const quote = plain ? "" : "'";
        options.push_back(fmt::format("--set {}{}{}", quote, setting, quote));
    }
    return fmt::format("{}", fmt::join(options, " "));
}

Suggestions suggestions(const ScenarioSource& source, std::span<const std::string> settings,
                        const Scenario& scenario, const StepResult& result, bool reuse, int jobs,
                        Watch* watch, const TrialLimits& limits) {
    if (!limits.none && result.played_events > kMostEventsOfSuggestions) {
        return {.tried = false};
    }
    Trials trials(source, settings, result, reuse, jobs, watch, limits);
    std::vector<PlanChange> changes = plan_changes(scenario, result);
    for (PlanChange& move : mesh_moves(scenario)) {
        if (trials.mapped()) {
            move.set.emplace_back("mesh_mapping=podsim");
        }
        changes.push_back(std::move(move));
    }
    std::vector<PlanChange> once;
    for (PlanChange& change : changes) {
        if (std::ranges::find(once, change.set, &PlanChange::set) == once.end()) {
            once.push_back(std::move(change));
        }
    }
    const std::vector<Suggestion> all = trials.simulated(once);
    Suggestions found{.faster = best_of_kinds(faster_of(all, result))};
    found.not_tried = trials.not_tried();
    if (!result.memory.fits) {
        std::vector<Suggestion> fitting = all;
        std::erase_if(fitting, [](const Suggestion& one) { return !one.memory.fits; });
        found.fitting = best_of_kinds(fitting);
    }
    const std::optional<Suggestion> sum = best_together(trials, found.faster, result);
    if (sum && sum->step_time < found.faster.front().step_time) {
        found.faster.insert(found.faster.begin(), *sum);
    } else {
        found.each_alone = found.faster.size() > 1;
    }
    return found;
}

std::optional<Remedies> tried_remedies(const ScenarioSource& source,
                                       std::span<const std::string> settings,
                                       const Scenario& scenario, const StepResult& result,
                                       bool reuse, Watch* watch, int jobs) {
    if (result.memory.fits || result.played_events > kMostEventsOfSuggestions) {
        return std::nullopt;
    }
    const Remedies in_order = remedies_in_order(scenario, result);
    const sim::Bytes beyond = held_beyond_order(scenario, result);
    std::vector<PlanChange> changes;
    for (const Remedy& one : in_order.each) {
        if (!one.set.empty()) {
            changes.push_back({"memory", one.set, one.text});
        }
    }
    Trials trials(source, settings, result, reuse, jobs, watch,
                  {.most_played = std::numeric_limits<std::uint64_t>::max()});
    const std::vector<Suggestion> tried = trials.simulated(changes);
    Remedies remedies;
    for (Remedy one : in_order.each) {
        if (!one.set.empty()) {
            const auto same = [&](const PlanChange& change) { return change.set == one.set; };
            const auto found = std::ranges::find_if(tried, same, &Suggestion::change);
            if (found == tried.end() && std::ranges::none_of(trials.not_tried(), same)) {
                continue;
            }
            if (found != tried.end()) {
                one.peak = found->memory.peak;
                one.step_time = found->step_time;
                one.simulated = true;
            }
        }
        const sim::Bytes peak = one.peak + (one.simulated ? sim::Bytes(0) : beyond);
        remedies.least_peak = std::min(remedies.least_peak, peak);
        if (peak <= result.memory.capacity) {
            remedies.each.push_back(std::move(one));
        }
    }
    if (in_order.each.empty()) {
        remedies.least_peak = in_order.least_peak + beyond;
    }
    return remedies;
}

namespace {

/// Returns a row for each suggestion, and below it the options that select it.
std::string rows_text(const char* title, std::span<const Suggestion> list, const StepResult& result,
                      double noise) {
    Table table;
    table.row({title, "step", "saves", "memory"});
    for (const Suggestion& one : list) {
        const double saved = 100 * gain(one, result);
        table.row({"  " + one.change.meaning, format_time(one.step_time.seconds()),
                   saved < 0
                       ? fmt::format("takes {:.1f} % more", -saved)
                       : fmt::format("{:.1f} %{}", saved,
                                     saved < 100 * noise ? ", less than its order's noise" : ""),
                   fmt::format("{}{}", format_bytes(one.memory.peak),
                               one.memory.tight ? ", tight" : "")});
    }
    std::istringstream rows(table.text(0));
    std::string text;
    std::string row;
    std::getline(rows, row);
    text += row + '\n';
    for (const Suggestion& one : list) {
        std::getline(rows, row);
        text += row + "\n    " + options_text(one.change.set) + '\n';
    }
    return text;
}

constexpr std::size_t kMostShown = 3;

std::string not_tried_text(std::span<const PlanChange> changes, bool all) {
    if (changes.empty()) {
        return {};
    }
    std::string text = fmt::format(
        "  not tried: {} {} that {} much longer to simulate than the step; --explain-all tries "
        "{}\n",
        changes.size(), changes.size() == 1 ? "change" : "changes",
        changes.size() == 1 ? "takes" : "take", changes.size() == 1 ? "it" : "all");
    const std::size_t named = all ? changes.size() : std::min(changes.size(), kMostShown);
    for (const PlanChange& change : changes.first(named)) {
        text += fmt::format("    {}: {}\n", change.meaning, options_text(change.set));
    }
    if (named < changes.size()) {
        text += fmt::format("    and {} more: --verbose names them\n", changes.size() - named);
    }
    return text;
}

Json list_json(std::span<const Suggestion> suggestions, const StepResult& result, double noise) {
    Json list = Json::array();
    for (const Suggestion& one : suggestions) {
        list.push_back({{"kind", one.change.kind},
                        {"set", one.change.set},
                        {"meaning", one.change.meaning},
                        {"step_time_s", decimal_seconds(one.step_time)},
                        {"saved_fraction", gain(one, result)},
                        {"peak_bytes", one.memory.peak.value()},
                        {"tight", one.memory.tight},
                        {"within_order_noise", std::abs(gain(one, result)) < noise}});
    }
    return list;
}

}  // namespace

std::string suggestions_text(const Suggestions& suggestions, const StepResult& result, bool all) {
    if (!suggestions.tried) {
        return fmt::format(
            "Changes: not tried, since the step plays {} events and dozens of runs would "
            "follow; --explain-all tries all\n",
            result.played_events);
    }
    std::string text;
    if (!suggestions.faster.empty()) {
        text += rows_text("Faster settings, each simulated", suggestions.faster, result,
                          suggestions.noise);
        text +=
            suggestions.each_alone ? "  no two of them together save more than the first\n" : "";
    } else {
        text += fmt::format("Faster settings: no neighbour of this plan {}saves {:.0f} %\n",
                            result.memory.fits ? "" : "that fits ", 100 * kLeastGain);
    }
    if (!suggestions.fitting.empty()) {
        text += rows_text("Settings that fit, each simulated", suggestions.fitting, result,
                          suggestions.noise);
    } else if (!result.memory.fits) {
        text += fmt::format("Settings that fit: {}no neighbour of this plan surely does\n",
                            result.remedies ? "beside the changes above " : "");
    }
    return text + not_tried_text(suggestions.not_tried, all);
}

void add_suggestions(Json& json, const Suggestions& suggestions, const StepResult& result) {
    json["advice"] = list_json(suggestions.faster, result, suggestions.noise);
    if (!result.memory.fits) {
        json["advice_to_fit"] = list_json(suggestions.fitting, result, suggestions.noise);
    }
    Json& not_tried = json["advice_not_tried"] = Json::array();
    for (const PlanChange& change : suggestions.not_tried) {
        not_tried.push_back(
            {{"kind", change.kind}, {"set", change.set}, {"meaning", change.meaning}});
    }
}

}  // namespace podsim::scenarios
