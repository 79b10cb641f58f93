// Shares of several causes in one effect that do not depend on the order in which causes are removed.
//
// A step takes v(S) once the causes in S are removed. The share of cause i is its Shapley value: what its removal saves, averaged over all
// orders of removal of the n causes,
//   share_i = sum over S without i of |S|! (n - |S| - 1)! / n! (v(S) - v(S + i))
// The shares add up to v(nothing) - v(all). Rounded to picoseconds they still do: the largest remainders are rounded up.
// Source: L. S. Shapley, A value for n-person games, 1953.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/base/time.h"

namespace podsim::scenarios {

inline constexpr std::size_t kMostCauses = 6;
/// Share and lone saving agree if they differ by at most this part of the share.
inline constexpr double kLoneAgreement = 0.05;

/// A cause that can be removed.
struct LedgerRow {
    std::string name{};
    sim::Time share{};  ///< may be below zero: a delay can help
    sim::Time alone{};  ///< saved if this cause alone is removed
    /// The cause whose removal changes this one's saving most; empty if none does.
    std::string together{};

    [[nodiscard]] bool agrees() const;
    /// Both are savings, or both are none.
    [[nodiscard]] bool same_sign() const { return (share.ps > 0) == (alone.ps > 0); }
};

/// `times[S]` is v(S), with bit i of S set if cause i is removed; 2^n of them for `names` n, n at most kMostCauses.
std::vector<LedgerRow> ledger_of(std::span<const std::string> names,
                                 std::span<const sim::Time> times);

}  // namespace podsim::scenarios
