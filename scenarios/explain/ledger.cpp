#include "scenarios/explain/ledger.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace podsim::scenarios {
namespace {

std::int64_t factorial(std::size_t n) {
    std::int64_t product = 1;
    for (std::size_t i = 2; i <= n; ++i) {
        product *= static_cast<std::int64_t>(i);
    }
    return product;
}

/// whole + parts / n!, with 0 <= parts < n!.
struct ExactShare {
    std::int64_t whole = 0;
    std::int64_t parts = 0;
};

/// Weights add up to n!, so that neither sum leaves the range of its differences.
ExactShare exact_share(std::size_t cause, std::size_t count, std::span<const sim::Time> times) {
    const std::int64_t all = factorial(count);
    const std::size_t bit = std::size_t{1} << cause;
    ExactShare share;
    for (std::size_t set = 0; set < times.size(); ++set) {
        if ((set & bit) != 0) {
            continue;
        }
        const auto removed = static_cast<std::size_t>(std::popcount(set));
        const std::int64_t weight = factorial(removed) * factorial(count - removed - 1);
        const std::int64_t saved = times[set].ps - times[set | bit].ps;
        share.whole += weight * (saved / all);
        share.parts += weight * (saved % all);
    }
    std::int64_t carried = share.parts / all;
    if (share.parts % all < 0) {
        --carried;
    }
    return {share.whole + carried, share.parts - carried * all};
}

/// The cause whose removal changes most what the removal of `cause` saves.
std::string partner(std::size_t cause, std::span<const std::string> names,
                    std::span<const sim::Time> times) {
    const std::size_t bit = std::size_t{1} << cause;
    const std::int64_t alone = times[0].ps - times[bit].ps;
    std::int64_t most = 0;
    std::string found;
    for (std::size_t other = 0; other < names.size(); ++other) {
        const std::size_t its = std::size_t{1} << other;
        if (other == cause) {
            continue;
        }
        const std::int64_t then = times[its].ps - times[its | bit].ps;
        if (std::abs(then - alone) > most) {
            most = std::abs(then - alone);
            found = names[other];
        }
    }
    return found;
}

}  // namespace

bool LedgerRow::agrees() const {
    return std::abs(static_cast<double>((share - alone).ps)) <=
           kLoneAgreement * std::abs(static_cast<double>(share.ps));
}

std::vector<LedgerRow> ledger_of(std::span<const std::string> names,
                                 std::span<const sim::Time> times) {
    const std::size_t count = names.size();
    assert(count <= kMostCauses && times.size() == std::size_t{1} << count);
    std::vector<LedgerRow> rows;
    std::vector<ExactShare> exact;
    for (std::size_t cause = 0; cause < count; ++cause) {
        exact.push_back(exact_share(cause, count, times));
        rows.push_back({.name = names[cause],
                        .share = {exact.back().whole},
                        .alone = times[0] - times[std::size_t{1} << cause],
                        .together = partner(cause, names, times)});
    }
    // Fractions add up to whole picoseconds.
    std::vector<std::size_t> by_remainder(count);
    std::iota(by_remainder.begin(), by_remainder.end(), 0U);
    std::ranges::stable_sort(by_remainder, std::ranges::greater(),
                             [&](std::size_t i) { return exact[i].parts; });
    const std::int64_t left = std::accumulate(
        exact.begin(), exact.end(), std::int64_t{0},
        [](std::int64_t sum, const ExactShare& share) { return sum + share.parts; });
    for (std::int64_t i = 0; i < left / factorial(count); ++i) {
        rows[by_remainder[static_cast<std::size_t>(i)]].share += sim::Time{1};
    }
    return rows;
}

}  // namespace podsim::scenarios
