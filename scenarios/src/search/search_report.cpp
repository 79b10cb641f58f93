#include "scenarios/src/search/search_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "scenarios/src/advise/suggestions.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/search/memory_fit.h"
#include "scenarios/src/search/plan_figures.h"
#include "scenarios/src/study/ratio_error.h"
#include "scenarios/src/study/step_difference.h"

namespace podsim::scenarios {
namespace {

constexpr double kHundred = 100;
constexpr std::size_t kMostReasons = 6;
constexpr std::size_t kMostCausesShown = 8;

std::string plan_text(const SearchSpace& space, const FoundPlan& plan) {
    return fmt::format("{}", fmt::join(space.set(plan.facts, plan.candidate), "  "));
}

/// Reports what is likely to be missing from a search that was ended early.
std::string likely_text(const SearchResult& result) {
    if (result.not_looked_at == 0 || result.best.empty()) {
        return "";
    }
    std::string text = fmt::format(
        "if all groups of a collective begin together, as they mostly do, {} of those not looked "
        "at may be among the answers",
        result.likely_not_looked_at == 0 ? "none" : std::to_string(result.likely_not_looked_at));
    if (result.not_outlined > 0) {
        text += fmt::format("; of {} more that is not known", result.not_outlined);
    }
    return text + '\n';
}

std::string counts_text(const SearchResult& result) {
    std::string text = fmt::format(
        "{} {}: {} refused, {} do not fit, {} cannot be among the answers ({} by their "
        "bounds, {} "
        "by the clock of a part of their run), {} simulated\n",
        result.enumerated, result.enumerated == 1 ? "candidate" : "candidates",
        result.refused_in_all(), result.unfit, result.pruned,
        result.pruned - result.pruned_while_simulated, result.pruned_while_simulated,
        result.simulated);
    if (result.not_looked_at > 0) {
        text.insert(text.size() - 1, fmt::format(", {} not looked at", result.not_looked_at));
    }
    if (result.not_listed > 0) {
        text +=
            fmt::format("beside them up to {} on machines whose meshes there was no time to list\n",
                        result.not_listed);
    }
    if (result.not_bounded + result.not_listed > 0) {
        const std::uint64_t unseen = result.not_bounded + result.not_listed;
        text +=
            std::isfinite(result.gap)
                ? fmt::format(
                      "ended early: of {} the FLOPs alone are known, so that another "
                      "plan may be up to {:.1f} % better than the best\n",
                      unseen, kHundred * (1 - 1 / (1 + result.gap)))
                : fmt::format("ended early: of {} nothing is known, so that others may be better\n",
                              unseen);
    } else if (result.left_to_others > 0) {
        text += fmt::format(
            "{} are left to other shards: the same command without --shard, and with --read of all "
            "records, puts them together\n",
            result.left_to_others);
    } else if (!result.complete && !result.best.empty() && result.gap == 0) {
        text += "ended early: the best is proven, those behind it are not\n" + likely_text(result);
    } else if (!result.complete) {
        text +=
            fmt::format("ended early: another plan may be up to {:.1f} % better than the best\n",
                        kHundred * (1 - 1 / (1 + result.gap)));
        text += likely_text(result);
    } else if (!result.best.empty()) {
        text += fmt::format(
            "nothing is left out without a proof: these are the best of the space "
            "(bounds reach {:.0f} % of what they bound)\n",
            kHundred * result.tightness);
    }
    return text;
}

std::string cost_text(const FoundPlan& plan) {
    return fmt::format("{:.4g}", usd_per_million_tokens(plan).value_or(0));
}

/// Names the ranking.
std::string objective_text(SearchObjective objective) {
    switch (objective) {
        case SearchObjective::mfu:
            return "highest MFU";
        case SearchObjective::cost:
            return "cheapest token";
        case SearchObjective::chips:
            return "fewest chips";
        case SearchObjective::step_time:
            break;
    }
    return "shortest step";
}

std::string memory_cell(const FoundPlan& plan) {
    return fmt::format("{}{} %", plan.tight() ? "tight " : "", plan.percent_of_memory());
}

/// Returns the scenario's own plan as a row, with its rank among the others.
std::vector<std::string> own_row(const SearchSpace& space, const SearchResult& result, bool costs) {
    const ThisPlan& own = *result.own;
    const FoundPlan& plan = own.plan;
    const std::string place = own.number                 ? fmt::format(": {}", *own.number)
                              : own.fits && own.in_space ? fmt::format(": >{}", result.best.size())
                                                         : "";
    return {fmt::format("  this plan{}", place),
            format_time(plan.step_time.seconds()),
            format_percent(plan.mfu()),
            fmt::format("{}{}", own.fits ? "" : "does not fit: ", memory_cell(plan)),
            std::to_string(plan.facts.chips),
            costs ? cost_text(plan) : "",
            "",
            own.in_space ? plan_text(space, plan) : "(not in the space)"};
}

std::string table_text(const SearchSpace& space, const std::vector<FoundPlan>& plans,
                       const std::vector<bool>* stays, const SearchResult* with_own = nullptr) {
    const bool costs = space.spec().asked.objective == SearchObjective::cost;
    Table table({7});
    table.row({"  #", "step", "MFU", "memory", "chips", costs ? "USD/Mtoken" : "",
               stays != nullptr ? "stays" : "", "plan"});
    const bool marks = stays != nullptr && plans.size() > 1 && error_is_known(space, plans[0]);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const FoundPlan& plan = plans[i];
        const bool known = stays != nullptr && i < stays->size();
        const bool marked = marks && lies_within_error(space, plan, plans[0]);
        table.row({fmt::format("  {}{}", i + 1, marked ? " *" : ""),
                   format_time(plan.step_time.seconds()), format_percent(plan.mfu()),
                   memory_cell(plan), std::to_string(plan.facts.chips),
                   costs ? cost_text(plan) : "", known ? ((*stays)[i] ? "yes" : "no") : "",
                   plan_text(space, plan)});
    }
    if (with_own != nullptr && with_own->own && with_own->own->refused.empty()) {
        table.row(own_row(space, *with_own, costs));
    }
    return table.text(0);
}

/// Reports what no row says about the scenario's own plan.
std::string own_text(const SearchResult& result) {
    if (!result.own) {
        return "";
    }
    const ThisPlan& own = *result.own;
    if (!own.refused.empty()) {
        return fmt::format("This plan, as the scenario has it, is refused: {}\n", own.refused);
    }
    return result.best.empty()
               ? fmt::format(
                     "This plan, as the scenario has it: {} a step, {} of {} a chip, which "
                     "{}\n",
                     format_time(own.plan.step_time.seconds()),
                     format_bytes(sim::Bytes(own.plan.peak)),
                     format_bytes(sim::Bytes(own.plan.facts.capacity)),
                     own.fits ? "fits" : "does not fit")
               : "";
}

/// Explains the mark. If the best is tight, it names the best that fits for sure, which the front
/// has.
std::string tight_text(const SearchSpace& space, const SearchResult& result) {
    if (std::ranges::none_of(result.best, &FoundPlan::tight)) {
        return "";
    }
    std::string text = fmt::format(
        "tight: within the {:.0f} % of the capacity that the account of memory is true to, so that "
        "such a plan may not fit\n",
        kHundred * kMemoryBelief);
    if (!result.best.front().tight()) {
        return text;
    }
    const FoundPlan* sure = nullptr;
    for (const FoundPlan& plan : result.front) {
        if (!plan.tight() && (sure == nullptr || times_as_bad_as(space, plan, *sure) < 1)) {
            sure = &plan;
        }
    }
    return text +
           (sure == nullptr
                ? fmt::format("No plan {}within {:.0f} % of the best fits for sure.\n",
                              result.not_looked_at > 0 ? "of those simulated " : "",
                              kHundred * kFrontEnds)
                : fmt::format("The best that fits for sure: {} a step, {} % of memory\n  {}\n",
                              format_time(sure->step_time.seconds()), sure->percent_of_memory(),
                              options_text(space.set(sure->facts, sure->candidate))));
}

std::string causes_text(const RunnersUp& two) {
    Table table;
    const bool longer = two.second.step_time > two.best.step_time;
    table.row({longer ? "Why the second takes longer: its critical path"
                      : "The second takes no longer: its critical path",
               "best", "second", "more"});
    const std::vector<TermPair> terms =
        side_by_side(two.best.critical_path, two.second.critical_path);
    for (std::vector<std::string>& row : term_rows(terms, kMostCausesShown)) {
        table.row(std::move(row));
    }
    return table.text(0);
}

std::string refusals_text(const SearchResult& result) {
    std::vector<std::pair<std::string, std::uint64_t>> reasons(result.refused.begin(),
                                                               result.refused.end());
    std::ranges::stable_sort(reasons, std::greater{},
                             &std::pair<std::string, std::uint64_t>::second);
    std::string text;
    for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
        text += fmt::format("  {:>8}  {}\n", reasons[i].second, reasons[i].first);
    }
    if (reasons.size() > kMostReasons) {
        const std::size_t more = reasons.size() - kMostReasons;
        text += fmt::format("  and {} other {}\n", more, more == 1 ? "reason" : "reasons");
    }
    return text.empty() ? "" : "\nRefused (N: a number)\n" + text;
}

/// Compares the second of the plans near the best with it, under the search's objective.
std::string second_text(const SearchSpace& space, const SearchResult& result) {
    const double times = times_as_bad_as(space, result.near[1], result.near[0]);
    switch (space.spec().asked.objective) {
        case SearchObjective::mfu:
            return fmt::format("the second MFU is {:.2f} % lower", kHundred * (1 - 1 / times));
        case SearchObjective::cost:
            return fmt::format("the second costs {:.2f} % more", kHundred * (times - 1));
        case SearchObjective::chips:
        case SearchObjective::step_time:
            break;
    }
    return fmt::format("the second step is {:.2f} % longer", kHundred * (times - 1));
}

std::string lead_text(const SearchSpace& space, const SearchAnswer& answer) {
    const SearchResult& result = answer.result;
    if (result.near.size() < 2) {
        return answer.sensitivity.rates.empty()
                   ? ""
                   : fmt::format(
                         "\nNo other plan is within {:.0f} % of the best. With rates {:.0f} % "
                         "lower or "
                         "higher, latency and launch half and twice, {}.\n",
                         kHundred * kNear, kHundred * answer.sensitivity.band,
                         answer.sensitivity.stays.front()
                             ? "none of those above gets that far ahead of it"
                             : "another of those above gets that far ahead of it, or it misses "
                               "what is asked");
    }
    std::string text = fmt::format(
        "\n{} plans are within {:.0f} % of the best{}; {}.", result.near.size(), kHundred * kNear,
        result.near.size() == kMostNear ? " or more, of which so many were looked at" : "",
        second_text(space, result));
    const std::vector<bool>& stays = answer.sensitivity.stays;
    if (!stays.empty()) {
        const auto many = std::ranges::count(stays, true);
        text += fmt::format(
            " With rates {:.0f} % lower or higher, latency and launch half and twice, {} of them "
            "{}.",
            kHundred * answer.sensitivity.band, many,
            many == 0   ? "stay so"
            : many == 1 ? "stays so: it is worth a try on hardware"
                        : "stay so: these are worth a try on hardware");
    }
    return text + '\n';
}

/// Reports those of the best plans whose order only hardware can tell.
std::string hardware_text(const SearchSpace& space, const SearchResult& result) {
    const auto within = std::ranges::count_if(result.best, [&](const FoundPlan& plan) {
        return lies_within_error(space, plan, result.best.front());
    });
    const std::string error =
        fmt::format("{:.1f} % of the best, the error of a difference (80 % of {} published pairs)",
                    kHundred * kRatioError, kRatioPairs);
    return within == 1 ? fmt::format("None of the others above lies within {}.\n", error)
                       : fmt::format(
                             "{} of the {} above lie within {}: try these, marked *, on "
                             "hardware.\n",
                             within, result.best.size(), error);
}

/// Reports what the best is best in, if that is not the step.
std::string ranked_text(const SearchSpace& space, const FoundPlan& best) {
    switch (space.spec().asked.objective) {
        case SearchObjective::cost:
            return fmt::format("{} USD per million tokens, ", cost_text(best));
        case SearchObjective::chips:
            return fmt::format("{} chips, ", best.facts.chips);
        case SearchObjective::mfu:
        case SearchObjective::step_time:
            break;
    }
    return "";
}

}  // namespace

std::vector<std::string> why_none(const SearchResult& result) {
    std::vector<std::string> lines;
    if (result.enumerated == 0) {
        lines.emplace_back("no sizes of search.mesh multiply to the chips of the machine");
        return lines;
    }
    // If no plan is found, only those that miss a deadline or a budget are pruned.
    if (result.pruned > 0) {
        std::string line = fmt::format("{} would miss the", result.pruned);
        if (result.shortest) {
            line += fmt::format(" deadline: the shortest step takes at least {}",
                                format_time(result.shortest->seconds()));
        }
        if (result.cheapest_usd) {
            line +=
                fmt::format("{} budget: the cheapest run costs at least {} USD",
                            result.shortest ? ", or the" : "", format_count(*result.cheapest_usd));
        }
        lines.push_back(std::move(line));
    }
    if (result.unfit > 0) {
        lines.push_back(fmt::format("{} do not fit into the memory of a chip", result.unfit));
    }
    return lines;
}

std::string search_text(const SearchSpace& space, const SearchAnswer& answer) {
    const SearchResult& result = answer.result;
    std::string text = fmt::format("{}: search for the {}\n", answer.name,
                                   objective_text(space.spec().asked.objective));
    text += counts_text(result);
    if (result.best.empty()) {
        text += result.not_looked_at > 0    ? "\nNo plan was found until then.\n"
                : result.left_to_others > 0 ? "\nNo plan of this shard fits what is asked.\n"
                                            : "\nNo plan of this space fits what is asked.\n";
        for (const std::string& line : why_none(result)) {
            text += fmt::format("  {}\n", line);
        }
        return text + own_text(result) + near_misses_text(space, answer.misses) +
               refusals_text(result);
    }
    const FoundPlan& best = result.best.front();
    text += fmt::format(
        "\nThe best: {}{} a step, MFU {}, {} of {} a chip{}\n  {}\n\n", ranked_text(space, best),
        format_time(best.step_time.seconds()), format_percent(best.mfu()),
        format_bytes(sim::Bytes(best.peak)), format_bytes(sim::Bytes(best.facts.capacity)),
        best.tight() ? ", tight" : "", options_text(space.set(best.facts, best.candidate)));
    text += table_text(space, result.best, &answer.sensitivity.stays, &result);
    text += own_text(result) + tight_text(space, result);
    text += lead_text(space, answer);
    if (result.best.size() > 1 && error_is_known(space, best)) {
        text += hardware_text(space, result);
    }
    if (answer.runners_up) {
        text += '\n' + causes_text(*answer.runners_up);
    }
    if (result.front.size() > 1) {
        text += fmt::format(
            "\nPareto front: step, memory (in steps of 5 %), chips{}; to {:.0f} % beyond the "
            "best\n",
            best.facts.usd_per_second ? ", dollars" : "", kHundred * kFrontEnds);
        text += table_text(space, result.front, nullptr);
    }
    return text + refusals_text(result);
}

}  // namespace podsim::scenarios
