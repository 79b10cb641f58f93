#include "scenarios/src/advise/diagnosis.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/base/format.h"

namespace podsim::scenarios {
namespace {

/// Terms below this fraction of the gap are not named.
constexpr double kLeastNamed = 0.05;
constexpr std::size_t kMostNamed = 4;

const LedgerRow* row_of(const StepResult& result, const std::string& name) {
    const auto found = std::ranges::find(result.ledger, name, &LedgerRow::name);
    return found == result.ledger.end() ? nullptr : &*found;
}

std::string percent_of(sim::Time part, sim::Time whole) {
    return fmt::format("{:.0f} %", 100 * part.seconds() / whole.seconds());
}

std::string cause_text(const StepResult& result, const Share& cause, sim::Time gap) {
    const LedgerRow* const row = row_of(result, cause.name);
    return row != nullptr
               ? fmt::format("{}: {} of the gap, {}", cause.name, percent_of(cause.time, gap),
                             shortfall_text(*row))
               : fmt::format("{}: {} of the gap, {}", cause.name, percent_of(cause.time, gap),
                             format_time(cause.time.seconds()));
}

/// Returns `; links need 476.4 ms by themselves` for the resource that binds next if its time is
/// nearly that of the bound; empty otherwise.
std::string next_bound(const workloads::LowerBound& lower) {
    constexpr double kNearly = 0.8;
    std::pair<const char*, sim::Seconds> next{};
    for (const auto& [what, time] : {std::pair{"matmuls need", lower.compute},
                                     {"the HBM needs", lower.hbm},
                                     {"the vector units need", lower.vpu},
                                     {"links need", lower.links}}) {
        if (time < lower.time && time > next.second) {
            next = {what, time};
        }
    }
    return next.first == nullptr || next.second.value() < kNearly * lower.time.value()
               ? ""
               : fmt::format("; {} {} by themselves", next.first, format_time(next.second.value()));
}

}  // namespace

std::string shortfall_text(const LedgerRow& row) {
    const std::string share = format_time(row.share.seconds());
    const std::string together =
        row.together.empty() ? "" : fmt::format(": it counts together with {}", row.together);
    if (row.agrees()) {
        return fmt::format("{}, as much if removed alone", share);
    }
    if (row.share.ps > 0 && row.alone.ps <= 0) {
        return fmt::format("{}, but nothing is saved by removing it alone{}", share, together);
    }
    return fmt::format("{}, {} if removed alone{}", share, format_time(row.alone.seconds()),
                       together);
}

std::vector<std::string> diagnosis(const StepResult& result) {
    std::vector<std::string> sentences{fmt::format(
        "bound by {}: no schedule of these operations takes less than {}{}", result.lower.bound,
        format_time(result.lower.time.value()), next_bound(result.lower))};
    if (!result.explained) {
        return sentences;
    }
    std::vector<Share> causes = by_cause(result.gap);
    sim::Time gap{};
    for (const Share& cause : causes) {
        gap += cause.time;
    }
    if (gap.ps <= 0) {
        sentences.emplace_back("the step is at that bound");
        return sentences;
    }
    const auto leads = [&](const Share& cause) {
        const LedgerRow* const row = row_of(result, cause.name);
        return row == nullptr || row->alone.ps > 0;
    };
    std::erase_if(causes, [&](const Share& cause) {
        return cause.time.seconds() < kLeastNamed * gap.seconds();
    });
    std::ranges::stable_partition(causes, leads);
    causes.resize(std::min(causes.size(), kMostNamed));
    if (causes.empty() || !leads(causes.front())) {
        sentences.push_back(fmt::format("{} above it, in terms of which none leads: --show gap",
                                        format_time(gap.seconds())));
    } else {
        sentences.push_back(fmt::format("{} above it, most of all for {}",
                                        format_time(gap.seconds()),
                                        cause_text(result, causes.front(), gap)));
        causes.erase(causes.begin());
    }
    for (const Share& cause : causes) {
        sentences.push_back("then " + cause_text(result, cause, gap));
    }
    if (std::ranges::any_of(result.gap, [&](const Share& share) {
            return share.time.seconds() < -kLeastNamed * gap.seconds();
        })) {
        sentences.emplace_back("other terms are below zero: --show gap");
    }
    return sentences;
}

}  // namespace podsim::scenarios
