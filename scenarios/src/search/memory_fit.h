// The rule by which a search counts a plan as fitting the memory of a chip.
//
// The account of a step's memory is true to kMemoryBelief of the capacity. A plan within that
// fraction, above or below, is tight: only a compiler can tell whether it fits. A search counts it
// as fitting and marks it, unless search.memory_margin says how much stays free.
#pragma once

#include <cmath>

#include "scenarios/src/scenario/search_section.h"
#include "scenarios/src/simulate/memory.h"

namespace podsim::scenarios {

/// True if the plan is tight, as in MemoryUse::tight. If it holds for a lower bound of the peak of
/// a plan that counts as fitting, the plan is tight for sure.
inline bool is_tight(double peak, double capacity) {
    return std::abs(peak / capacity - 1) <= kMemoryBelief;
}

/// True if a plan of that peak counts as fitting. A plan that holds more than one that does not fit
/// does not fit either, so a lower bound proves it.
inline bool may_fit(const SearchSection& asked, double peak, double capacity) {
    return asked.memory_margin ? peak <= capacity * (1 - *asked.memory_margin)
                               : peak <= capacity || is_tight(peak, capacity);
}

/// Returns the bytes beyond the capacity less the margin that stays free; below 0 if there is room.
inline double bytes_over(const SearchSection& asked, double peak, double capacity) {
    return peak - capacity * (1 - asked.memory_margin.value_or(0));
}

}  // namespace podsim::scenarios
