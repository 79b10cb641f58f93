// Two steps set beside each other: the settings and figures that differ, and why one takes longer.
#pragma once

#include <string>
#include <vector>

#include "scenarios/difference/side_by_side.h"
#include "scenarios/difference/step_figures.h"

namespace podsim::scenarios {

struct ChangedSetting {
    std::string key;
    std::string a;  ///< empty: A has no such key
    std::string b;
    bool said = false;  ///< in one of them
};

/// How far a difference of the two can be believed.
enum class Belief {
    same,     ///< nothing differs
    unknown,  ///< no published pair is like these two
    within,   ///< within the error of a difference (calibrate/ratio_error.h)
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
    std::vector<ChangedSetting> settings{};  ///< those that were said first
    std::vector<TermPair> causes{};          ///< of the stream, by cause: they add up to both steps
    std::vector<TermPair> stream{};          ///< each term of it
    std::vector<TermPair> path{};            ///< empty where one of them was not explained
    std::vector<TermPair> gap{};
    std::vector<BytesPair> memory{};
    std::vector<BytesPair> links{};
    Belief belief = Belief::unknown;

    [[nodiscard]] sim::Time more() const { return b.step - a.step; }
};

StepDifference difference_of(StepFigures a, StepFigures b);

/// Which takes longer, by how much, and the largest terms of why, in a sentence or two.
std::string why_text(const StepDifference& difference);
/// What the belief means, in a sentence; empty where nothing differs.
std::string belief_text(const StepDifference& difference);

}  // namespace podsim::scenarios
