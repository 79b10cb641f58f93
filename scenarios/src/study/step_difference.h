// Compares two steps: the settings and figures that differ, and why one takes longer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/src/simulate/shares.h"
#include "scenarios/src/study/step_figures.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// A term of two accounts; 0 in an account without this term.
struct TermPair {
    std::string name;
    sim::Time a;
    sim::Time b;

    [[nodiscard]] sim::Time more() const { return b - a; }  ///< excess in B
};

/// Returns every name once, those that differ most first, equal ones by name. Terms of one name are
/// added.
std::vector<TermPair> side_by_side(std::span<const Share> a, std::span<const Share> b);

/// Formats a difference: `-324.3 ms`, `1.000 us`.
std::string signed_time(sim::Time time);

/// Returns rows of cells for the first `most` terms: name, A, B, B - A.
std::vector<std::vector<std::string>> term_rows(std::span<const TermPair> terms, std::size_t most);

struct ChangedSetting {
    std::string key;
    std::string a;  ///< empty: A has no such key
    std::string b;
    bool said = false;  ///< stated in A or B
};

/// How far the difference of the two can be believed.
enum class Belief {
    same,     ///< nothing differs
    unknown,  ///< no published pair is like these two
    within,   ///< within the error of a difference (ratio_error.h)
    beyond,
};

struct BytesPair {
    std::string name;
    double a = 0;
    double b = 0;
};

struct StepDifference {
    StepFigures a;
    StepFigures b;
    std::vector<ChangedSetting> settings{};  ///< those that were stated first
    /// Terms of the stream by cause; they add up to both steps.
    std::vector<TermPair> causes{};
    std::vector<TermPair> stream{};  ///< each term of the stream
    std::vector<TermPair> path{};    ///< empty if either was not explained
    std::vector<TermPair> gap{};
    std::vector<BytesPair> memory{};
    std::vector<BytesPair> links{};
    Belief belief = Belief::unknown;

    [[nodiscard]] sim::Time more() const { return b.step - a.step; }
};

StepDifference difference_of(StepFigures a, StepFigures b);

/// Returns a sentence or two: the step that takes longer, by how much, and the largest terms that
/// cause it.
std::string why_text(const StepDifference& difference);
/// Returns a sentence that explains the belief; empty if nothing differs.
std::string belief_text(const StepDifference& difference);

}  // namespace podsim::scenarios
