// The terms of two accounts beside each other, by their names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/explain/shares.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// A term of two accounts; 0 in one that has no such term.
struct TermPair {
    std::string name;
    sim::Time a;
    sim::Time b;

    [[nodiscard]] sim::Time more() const { return b - a; }  ///< in B
};

/// Every name once, those that differ most first, equal ones by name. Shares of one name are added.
std::vector<TermPair> side_by_side(std::span<const Share> a, std::span<const Share> b);

/// `-324.3 ms`, `1.000 us`: a difference.
std::string signed_time(sim::Time time);

/// Rows of cells: name, A, B, B - A; the first `most` of them.
std::vector<std::vector<std::string>> term_rows(std::span<const TermPair> terms, std::size_t most);

}  // namespace podsim::scenarios
