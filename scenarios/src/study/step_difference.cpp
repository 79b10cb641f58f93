#include "scenarios/src/study/step_difference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/study/ratio_error.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr double kHundred = 100;
/// Terms are named until they make up the fraction kEnough of the difference; terms against it are
/// named above the fraction kAgainst.
constexpr double kEnough = 0.8;
constexpr double kAgainst = 0.1;
constexpr std::size_t kMostNamed = 3;

/// True if the values are equal, also as counts: `512Ki` is `524288`.
bool same_value(const std::string& a, const std::string& b) {
    if (a == b) {
        return true;
    }
    try {
        return parse_count(a) == parse_count(b);
    } catch (const sim::InputError&) {
        return false;
    }
}

const Setting* find(const std::vector<Setting>& settings, const std::string& key) {
    const auto found = std::ranges::find(settings, key, &Setting::key);
    return found == settings.end() ? nullptr : &*found;
}

/// True if a key can be compared: only those that a written result states can be.
bool comparable(const StepFigures& other, const std::string& key) {
    return other.all_settings || key.starts_with("mesh.") || find(other.settings, key) != nullptr;
}

/// Returns the name that a written result gives to a model or chip, for a scenario in which it is a
/// map.
std::optional<Setting> named(const StepFigures& of, const StepFigures& other,
                             const std::string& key) {
    if (!of.all_settings || other.all_settings) {
        return std::nullopt;
    }
    return key == "model"           ? std::optional(Setting{key, of.model, true})
           : key == "hardware.chip" ? std::optional(Setting{key, of.chip, true})
                                    : std::nullopt;
}

std::vector<ChangedSetting> changed_settings(const StepFigures& a, const StepFigures& b) {
    std::vector<ChangedSetting> changed;
    for (const Setting& one : a.settings) {
        const Setting* other = find(b.settings, one.key);
        const std::optional<Setting> name = named(b, a, one.key);
        if (other == nullptr && name) {
            other = &*name;
        }
        if (comparable(b, one.key) && (other == nullptr || !same_value(one.value, other->value))) {
            changed.push_back({one.key, one.value, other != nullptr ? other->value : "",
                               one.said || (other != nullptr && other->said)});
        }
    }
    for (const Setting& one : b.settings) {
        if (!comparable(a, one.key) || find(a.settings, one.key) != nullptr) {
            continue;
        }
        const std::optional<Setting> name = named(a, b, one.key);
        if (!name || !same_value(name->value, one.value)) {
            changed.push_back({one.key, name ? name->value : "", one.value, one.said});
        }
    }
    std::stable_partition(changed.begin(), changed.end(),
                          [](const ChangedSetting& one) { return one.said; });
    return changed;
}

std::vector<BytesPair> bytes_pairs(const std::vector<std::pair<std::string, double>>& a,
                                   const std::vector<std::pair<std::string, double>>& b) {
    std::vector<BytesPair> pairs;
    const auto at = [&](const std::string& name) -> BytesPair& {
        const auto found = std::ranges::find(pairs, name, &BytesPair::name);
        return found != pairs.end() ? *found : pairs.emplace_back(BytesPair{name});
    };
    for (const auto& [name, bytes] : a) {
        at(name).a = bytes;
    }
    for (const auto& [name, bytes] : b) {
        at(name).b = bytes;
    }
    return pairs;
}

Belief belief_in(const StepFigures& a, const StepFigures& b) {
    if (a.step == b.step && a.tokens == b.tokens && a.chips == b.chips) {
        return Belief::same;
    }
    const bool like = a.like_published && b.like_published && a.chip == b.chip &&
                      a.model == b.model && a.parameters == b.parameters &&
                      (!a.quantised || !b.quantised || a.quantised == b.quantised);
    if (!like) {
        return Belief::unknown;
    }
    return within_ratio_error(a.chip_seconds_per_token(), b.chip_seconds_per_token())
               ? Belief::within
               : Belief::beyond;
}

/// Formats a term: `waits for collectives over tensor 331.4 ms less`, `recompute 1.000 s more`.
std::string term_text(const TermPair& term) {
    return fmt::format("{}{} {} {}", term.name.starts_with("collectives") ? "waits for " : "",
                       term.name, format_time(std::abs(term.more().seconds())),
                       term.more().ps < 0 ? "less" : "more");
}

}  // namespace

std::vector<TermPair> side_by_side(std::span<const Share> a, std::span<const Share> b) {
    std::map<std::string, TermPair> terms;
    for (const Share& share : a) {
        terms[share.name].a += share.time;
    }
    for (const Share& share : b) {
        terms[share.name].b += share.time;
    }
    std::vector<TermPair> rows;
    rows.reserve(terms.size());
    for (const auto& [name, term] : terms) {
        rows.push_back({name, term.a, term.b});
    }
    std::ranges::stable_sort(rows, std::greater{},
                             [](const TermPair& row) { return std::abs(row.more().ps); });
    return rows;
}

std::string signed_time(sim::Time time) {
    return (time.ps < 0 ? "-" : "") + format_time(std::abs(time.seconds()));
}

std::vector<std::vector<std::string>> term_rows(std::span<const TermPair> terms, std::size_t most) {
    std::vector<std::vector<std::string>> rows;
    for (const TermPair& term : terms.first(std::min(terms.size(), most))) {
        rows.push_back(
            {"  " + term.name, signed_time(term.a), signed_time(term.b), signed_time(term.more())});
    }
    return rows;
}

StepDifference difference_of(StepFigures a, StepFigures b) {
    StepDifference difference{.a = std::move(a), .b = std::move(b)};
    const StepFigures& first = difference.a;
    const StepFigures& second = difference.b;
    difference.settings = changed_settings(first, second);
    difference.causes = side_by_side(by_cause(first.stream), by_cause(second.stream));
    difference.stream = side_by_side(first.stream, second.stream);
    if (!first.path.empty() && !second.path.empty()) {
        difference.path = side_by_side(first.path, second.path);
        difference.gap = side_by_side(first.gap, second.gap);
    }
    difference.memory = bytes_pairs(first.at_peak, second.at_peak);
    difference.links = bytes_pairs(first.link_bytes, second.link_bytes);
    difference.belief = belief_in(first, second);
    return difference;
}

std::string why_text(const StepDifference& difference) {
    const sim::Time more = difference.more();
    if (more.ps == 0) {
        return "A and B take the same time, to the picosecond.";
    }
    std::vector<std::string> because;
    std::vector<std::string> against;
    const double all = std::abs(more.seconds());
    double named = 0;
    for (const TermPair& term : difference.causes) {
        const double part = std::abs(term.more().seconds());
        const bool with = (term.more().ps < 0) == (more.ps < 0);
        if (with && named < kEnough * all && because.size() < kMostNamed) {
            because.push_back(term_text(term));
            named += part;
        } else if (!with && part > kAgainst * all && against.size() < kMostNamed) {
            against.push_back(term_text(term));
        }
    }
    const double share = difference.b.step.seconds() / difference.a.step.seconds() - 1;
    return fmt::format("B takes {} {} than A ({:+.1f} %): {}{}{}.", format_time(all),
                       more.ps < 0 ? "less" : "longer", kHundred * share, fmt::join(because, ", "),
                       against.empty() ? "" : "; against it ", fmt::join(against, ", "));
}

std::string belief_text(const StepDifference& difference) {
    const StepFigures& a = difference.a;
    const StepFigures& b = difference.b;
    const std::string error =
        fmt::format("{:.1f} % within which 80 % of {} published pairs were predicted",
                    kHundred * kRatioError, kRatioPairs);
    // Steps of one size are compared directly; others by the chip time of a token.
    const std::string that =
        a.tokens == b.tokens && a.chips == b.chips
            ? "That is"
            : fmt::format("In chip time a token ({:+.1f} %) that is",
                          kHundred * (b.chip_seconds_per_token() / a.chip_seconds_per_token() - 1));
    switch (difference.belief) {
        case Belief::same:
            return {};
        case Belief::unknown:
            return "No published pair is like these two (one model, chip and precision, profile "
                   "measured): how far to believe the difference is not known.";
        case Belief::within:
            return fmt::format("{} within the {}: try both on hardware.", that, error);
        case Belief::beyond:
            return fmt::format("{} beyond the {}.", that, error);
    }
    return {};
}

}  // namespace podsim::scenarios
