#include "scenarios/src/study/difference_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/simulate/memory.h"
#include "scenarios/src/study/ratio_error.h"

namespace podsim::scenarios {
namespace {

constexpr std::size_t kMostSettingsShown = 8;
constexpr std::size_t kMostTerms = 4;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

std::string signed_bytes(double bytes) {
    return (bytes < 0 ? "-" : "") + format_bytes(sim::Bytes(std::abs(bytes)));
}

std::string settings_text(const StepDifference& difference, bool verbose) {
    if (difference.settings.empty()) {
        return difference.a.all_settings && difference.b.all_settings
                   ? "No setting differs\n"
                   : "No setting differs of those that a written result says; scenarios say all\n";
    }
    Table table({1, 2});
    table.row({"Settings that differ", "A", "B"});
    const std::size_t most = verbose ? kAll : kMostSettingsShown;
    const std::size_t shown = std::min(most, difference.settings.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const ChangedSetting& one = difference.settings[i];
        table.row({"  " + one.key, one.a.empty() ? "-" : one.a, one.b.empty() ? "-" : one.b});
    }
    std::string text = table.text(0);
    if (shown < difference.settings.size()) {
        text += fmt::format("  and {} more\n", difference.settings.size() - shown);
    }
    return text;
}

std::string relative(double a, double b) {
    return a > 0 ? fmt::format("{:+.1f} %", 100 * (b / a - 1)) : "";
}

std::string headline_text(const StepDifference& difference) {
    const StepFigures& a = difference.a;
    const StepFigures& b = difference.b;
    Table table;
    table.row({"Headline", "A", "B", "B - A", ""});
    table.row({"  step time", format_time(a.step.seconds()), format_time(b.step.seconds()),
               signed_time(difference.more()), relative(a.step.seconds(), b.step.seconds())});
    if (a.mfu && b.mfu) {
        table.row({"  MFU", format_percent(*a.mfu), format_percent(*b.mfu),
                   fmt::format("{:+.2f} points", 100 * (*b.mfu - *a.mfu)), ""});
    }
    table.row({"  tokens/s", format_count(a.tokens_per_s), format_count(b.tokens_per_s), "",
               relative(a.tokens_per_s, b.tokens_per_s)});
    if (a.tokens != b.tokens || a.chips != b.chips) {
        table.row({"  chip time a token", format_time(a.chip_seconds_per_token()),
                   format_time(b.chip_seconds_per_token()), "",
                   relative(a.chip_seconds_per_token(), b.chip_seconds_per_token())});
    }
    std::string memory = "  memory";
    for (const auto& [side, figures] : {std::pair("A", &a), std::pair("B", &b)}) {
        const MemoryFit fit = fit_of(*figures);
        memory += fit == MemoryFit::fits
                      ? ""
                      : fmt::format(", {} {}{}", side, fit == MemoryFit::tight ? "is " : "",
                                    to_string(fit, true));
    }
    table.row({std::move(memory), signed_bytes(a.peak), signed_bytes(b.peak),
               signed_bytes(b.peak - a.peak), relative(a.peak, b.peak)});
    return table.text(0);
}

/// Reports the terms that differ, and the sum of all; with `verbose` also the equal ones.
std::string account_text(std::string_view title, std::span<const TermPair> terms, bool verbose) {
    std::vector<TermPair> rows(terms.begin(), terms.end());
    TermPair sum{"step", {}, {}};
    for (const TermPair& term : rows) {
        sum.a += term.a;
        sum.b += term.b;
    }
    if (!verbose) {
        std::erase_if(rows, [](const TermPair& term) { return term.more().ps == 0; });
    }
    Table table;
    table.row({std::string(title), "A", "B", "B - A"});
    // A single remaining term takes no more room under its own name than as the rest.
    const std::size_t most = verbose || rows.size() == kMostTerms + 1 ? kAll : kMostTerms;
    for (std::vector<std::string>& row : term_rows(rows, most)) {
        table.row(std::move(row));
    }
    if (rows.size() > most) {
        TermPair rest{fmt::format("{} others that differ", rows.size() - most), {}, {}};
        for (const TermPair& term : std::span(rows).subspan(most)) {
            rest.a += term.a;
            rest.b += term.b;
        }
        table.row(term_rows(std::span(&rest, 1), 1).front());
    }
    table.row(term_rows(std::span(&sum, 1), 1).front());
    return table.text(0);
}

std::string bytes_text(std::string_view title, const std::vector<BytesPair>& pairs, bool verbose) {
    Table table;
    table.row({std::string(title), "A", "B", "B - A"});
    bool any = false;
    for (const BytesPair& pair : pairs) {
        if ((verbose && (pair.a != 0 || pair.b != 0)) || pair.a != pair.b) {
            any = true;
            table.row({"  " + pair.name, signed_bytes(pair.a), signed_bytes(pair.b),
                       signed_bytes(pair.b - pair.a)});
        }
    }
    return any ? '\n' + table.text(0) : "";
}

Json terms_json(std::span<const TermPair> terms) {
    Json json = Json::object();
    for (const TermPair& term : terms) {
        json[term.name] = {{"a", decimal_seconds(term.a)},
                           {"b", decimal_seconds(term.b)},
                           {"more", decimal_seconds(term.more())}};
    }
    return json;
}

Json bytes_json(const std::vector<BytesPair>& pairs) {
    Json json = Json::object();
    for (const BytesPair& pair : pairs) {
        json[pair.name] = {{"a", pair.a}, {"b", pair.b}, {"more", pair.b - pair.a}};
    }
    return json;
}

Json side_json(const StepFigures& figures) {
    Json json = {{"scenario", figures.name},
                 {"file", figures.file},
                 {"chip", figures.chip},
                 {"model", figures.model},
                 {"chips", figures.chips},
                 {"batch_tokens", figures.tokens},
                 {"step_time_s", decimal_seconds(figures.step)}};
    if (figures.mfu) {
        json["mfu"] = *figures.mfu;
    }
    json["tokens_per_s"] = figures.tokens_per_s;
    json["peak_bytes"] = figures.peak;
    json["capacity_bytes"] = figures.capacity;
    json["fits"] = figures.fits;
    json["warnings"] = figures.warnings;
    return json;
}

std::string_view word_of(Belief belief) {
    switch (belief) {
        case Belief::same:
            return "same";
        case Belief::unknown:
            return "unknown";
        case Belief::within:
            return "within";
        case Belief::beyond:
            return "beyond";
    }
    return "";
}

}  // namespace

std::string difference_text(const StepDifference& difference, bool verbose) {
    const std::string belief = belief_text(difference);
    std::string text = why_text(difference) + '\n' + belief + (belief.empty() ? "" : "\n") +
                       fmt::format("  A  {}\n  B  {}\n\n", difference.a.label, difference.b.label);
    text += settings_text(difference, verbose) + '\n' + headline_text(difference) + '\n';
    if (difference.more().ps == 0 && !verbose) {
        return difference.settings.empty() ? text.substr(0, text.size() - 1)
                                           : text + "More: --verbose\n";
    }
    text +=
        account_text("Time of the step", verbose ? difference.stream : difference.causes, verbose);
    if (verbose) {
        if (!difference.path.empty()) {
            text += '\n' + account_text("Critical path", difference.path, true) + '\n' +
                    account_text("Gap, from the lower bound", difference.gap, true);
        } else {
            text += "\nCritical path and gap left out: one of the steps was not explained\n";
        }
        text += bytes_text("Bytes a link", difference.links, true);
    }
    text += bytes_text("Memory at the peak", difference.memory, verbose);
    return text + (verbose ? "" : "More: --verbose\n");
}

Json difference_json(const StepDifference& difference) {
    Json json = {{"schema", kSchemaName},
                 {"kind", "diff"},
                 {"a", side_json(difference.a)},
                 {"b", side_json(difference.b)},
                 {"why", why_text(difference)},
                 {"more_s", decimal_seconds(difference.more())},
                 {"belief", word_of(difference.belief)},
                 {"ratio_error_fraction", kRatioError}};
    json["all_settings"] = difference.a.all_settings && difference.b.all_settings;
    Json settings = Json::array();
    for (const ChangedSetting& one : difference.settings) {
        settings.push_back({{"key", one.key},
                            {"a", one.a.empty() ? Json() : Json(one.a)},
                            {"b", one.b.empty() ? Json() : Json(one.b)}});
    }
    json["settings"] = std::move(settings);
    json["causes_s"] = terms_json(difference.causes);
    json["stream_s"] = terms_json(difference.stream);
    if (!difference.path.empty()) {
        json["critical_path_s"] = terms_json(difference.path);
        json["gap_s"] = terms_json(difference.gap);
    }
    json["at_peak_bytes"] = bytes_json(difference.memory);
    json["link_bytes"] = bytes_json(difference.links);
    return json;
}

}  // namespace podsim::scenarios
