#include "scenarios/suggest/suggestions.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <sstream>
#include <utility>

#include "scenarios/advice/memory_remedies.h"
#include "scenarios/load/load.h"
#include "scenarios/simulate/step_memory.h"
#include "scenarios/suggest/mesh_moves.h"
#include "scenarios/text/format.h"
#include "scenarios/text/table.h"
#include "scenarios/watch/run_limit.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// A change that turned out not to be allowed is none.
struct Trial {
    std::optional<Suggestion> suggestion{};
    std::uint64_t played = 0;
    bool left_out = false;
    std::exception_ptr error{};
};

class Trials {
public:
    Trials(const ScenarioSource& source, std::span<const std::string> settings,
           const StepResult& result, bool reuse, int jobs, Watch* watch, std::uint64_t most_played)
        : path_(source.file),
          tree_(read_scenario(source)),
          result_(result),
          reuse_(reuse),
          jobs_(jobs),
          watch_(watch, Phase::explaining),
          most_played_(most_played) {
        for (const std::string& setting : settings) {
            apply_setting(tree_, setting);
        }
    }

    /// Whether sizes of a mesh are laid out by a rule (mesh_mapping), which factors do without.
    [[nodiscard]] bool mapped() const { return tree_.find("mesh_mapping") != nullptr; }
    /// How many were too large to be tried, or came when all had been played that may be.
    [[nodiscard]] int left_out() const { return left_out_; }

    /// Of those, what is worth saying, in their order.
    std::vector<Suggestion> worthwhile(const std::vector<PlanChange>& changes) {
        std::vector<Suggestion> worthwhile;
        left_out_ += static_cast<int>(changes.size());
        run_in_order(
            0, changes.size(), jobs_, [&](std::size_t i) { return run(changes[i]); },
            [&](std::size_t, const Trial& trial) {
                if (spent()) {
                    return;
                }
                if (trial.error) {
                    std::rethrow_exception(trial.error);
                }
                played_ += trial.played;
                left_out_ -= trial.left_out ? 0 : 1;
                if (trial.suggestion && helps(*trial.suggestion)) {
                    worthwhile.push_back(*trial.suggestion);
                }
            },
            [this] { return spent(); });
        return worthwhile;
    }

    /// Every change by itself, whatever it gains.
    std::vector<Trial> each(const std::vector<PlanChange>& changes) {
        std::vector<Trial> trials;
        run_in_order(
            0, changes.size(), jobs_, [&](std::size_t i) { return run(changes[i]); },
            [&](std::size_t, const Trial& trial) {
                if (trial.error) {
                    std::rethrow_exception(trial.error);
                }
                trials.push_back(trial);
            },
            [] { return false; });
        return trials;
    }

private:
    [[nodiscard]] bool spent() const { return played_ > most_played_; }

    [[nodiscard]] bool helps(const Suggestion& suggestion) const {
        const MemoryUse& memory = suggestion.memory;
        return memory.fits && (!memory.tight || memory.peak <= result_.memory.peak) &&
               (!result_.memory.fits ||
                suggestion.step_time.seconds() < (1 - kLeastGain) * result_.step_time.seconds());
    }

    Trial run(const PlanChange& change) {
        RunLimit limit(watch_, std::max(kMostTimesTheEvents * result_.events, kFewEvents),
                       most_played_to_explain(result_.played_events));
        try {
            YamlNode tree = tree_;
            for (const std::string& setting : change.set) {
                apply_setting(tree, setting);
            }
            const Scenario scenario = load_scenario(tree, path_);
            StepResult result = simulate_step(
                scenario, Fold::automatic,
                {.reuse = reuse_, .explain = false, .watch = &limit, .memory = &memory_});
            return {.suggestion = Suggestion{change, result.step_time, std::move(result.memory)},
                    .played = result.played_events};
        } catch (const sim::InputError&) {
            return {};
        } catch (const sim::TimeOverflow&) {
            return {};
        } catch (...) {
            return limit.exceeded() ? Trial{.played = limit.played(), .left_out = true}
                                    : Trial{.error = std::current_exception()};
        }
    }

    const std::string path_;
    YamlNode tree_;
    const StepResult& result_;
    const bool reuse_;
    const int jobs_;
    StepMemory memory_;
    PhaseWatch watch_;
    const std::uint64_t most_played_;  ///< by all of them
    std::uint64_t played_ = 0;         ///< by those that count
    int left_out_ = 0;
};

/// The fastest of each kind.
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

/// Of the first two, the first three, ... of them the fastest together, without those that gain nothing there: tensor collectives between
/// parts of matmuls do nothing for a mesh without tensor ways. None where fewer than two are left.
std::optional<Suggestion> best_together(Trials& trials, const std::vector<Suggestion>& best) {
    std::optional<Suggestion> found;
    std::vector<Suggestion> parts;
    std::vector<PlanChange> sums;
    for (std::size_t count = 2; count <= best.size(); ++count) {
        sums.push_back(together(std::span(best).first(count)));
    }
    for (const Suggestion& sum : trials.worthwhile(sums)) {
        if (!found || sum.step_time < found->step_time) {
            found = sum;
            const auto count = std::ranges::find(sums, sum.change.meaning, &PlanChange::meaning);
            parts.assign(best.begin(), best.begin() + 2 + (count - sums.begin()));
        }
    }
    for (std::size_t i = parts.size(); i-- > 0 && parts.size() > 1;) {
        std::vector<Suggestion> fewer = parts;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        const std::vector<Suggestion> without = trials.worthwhile({together(fewer)});
        if (!without.empty() && without.front().step_time <= found->step_time) {
            parts = std::move(fewer);
            found = without.front();
        }
    }
    return parts.size() < 2 ? std::nullopt : found;
}

double gain(const Suggestion& suggestion, const StepResult& result) {
    return static_cast<double>((result.step_time - suggestion.step_time).ps) /
           static_cast<double>(result.step_time.ps);
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
                        Watch* watch, std::optional<std::uint64_t> most_played) {
    if (result.played_events > kMostEventsOfSuggestions) {
        return {.tried = false};
    }
    Trials trials(
        source, settings, result, reuse, jobs, watch,
        most_played.value_or(kMostTimesPlayedInAll * most_played_to_explain(result.played_events)));
    std::vector<PlanChange> changes = plan_changes(scenario, result);
    for (PlanChange& move : mesh_moves(scenario)) {
        if (trials.mapped()) {
            move.set.emplace_back("mesh_mapping=podsim");
        }
        changes.push_back(std::move(move));
    }
    Suggestions found{.best = best_of_kinds(trials.worthwhile(changes))};
    found.left_out = trials.left_out();
    const std::optional<Suggestion> sum = best_together(trials, found.best);
    if (sum && sum->step_time < found.best.front().step_time) {
        found.best.insert(found.best.begin(), *sum);
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
    Trials trials(source, settings, result, reuse, jobs, watch, 0);
    const std::vector<Trial> tried = trials.each(changes);
    Remedies remedies;
    auto trial = tried.begin();
    for (Remedy one : in_order.each) {
        if (!one.set.empty()) {
            const Trial& of_this = *trial++;
            if (!of_this.suggestion && !of_this.left_out) {
                continue;
            }
            if (of_this.suggestion) {
                one.peak = of_this.suggestion->memory.peak;
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

std::string suggestions_text(const Suggestions& suggestions, const StepResult& result) {
    if (!suggestions.tried) {
        return fmt::format(
            "What to change: not tried, since the step plays {} events and dozens of runs would "
            "follow\n",
            result.played_events);
    }
    const std::string left_out =
        suggestions.left_out == 0
            ? ""
            : fmt::format("  not tried: {} {} that {} much longer to simulate than the step\n",
                          suggestions.left_out, suggestions.left_out == 1 ? "change" : "changes",
                          suggestions.left_out == 1 ? "takes" : "take");
    if (suggestions.best.empty()) {
        const std::string none =
            result.memory.fits ? fmt::format("saves {:.0f} %", 100 * kLeastGain) : "surely fits";
        return fmt::format("What to change: no neighbour of this plan {}\n{}", none, left_out);
    }
    Table table;
    table.row({"What to change, each simulated", "step", "saves", "memory"});
    for (const Suggestion& one : suggestions.best) {
        table.row({"  " + one.change.meaning, format_time(one.step_time.seconds()),
                   fmt::format("{:.1f} %", 100 * gain(one, result)),
                   format_bytes(one.memory.peak)});
    }
    // Below each row what makes it so.
    std::istringstream rows(table.text(0));
    std::string text;
    std::string row;
    std::getline(rows, row);
    text += row + '\n';
    for (const Suggestion& one : suggestions.best) {
        std::getline(rows, row);
        text += row + "\n    " + options_text(one.change.set) + '\n';
    }
    return text + left_out;
}

Json suggestions_json(const Suggestions& suggestions, const StepResult& result) {
    Json list = Json::array();
    for (const Suggestion& one : suggestions.best) {
        list.push_back({{"kind", one.change.kind},
                        {"set", one.change.set},
                        {"meaning", one.change.meaning},
                        {"step_time_s", decimal_seconds(one.step_time)},
                        {"saved_fraction", gain(one, result)},
                        {"peak_bytes", one.memory.peak.value()}});
    }
    return list;
}

}  // namespace podsim::scenarios
