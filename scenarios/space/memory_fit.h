// The rule by which a search counts a plan as fitting the memory of a chip.
//
// The account of a step's memory is true to kMemoryBelief of the capacity: a plan within that, above or below, is tight, and only a
// compiler can tell whether it fits. A search counts it as fitting and marks it, unless search.memory_margin says what is to stay free.
#pragma once

#include <cmath>

#include "scenarios/explain/memory.h"
#include "scenarios/spec/search_section.h"

namespace podsim::scenarios {

/// As MemoryUse::tight. Of a lower bound of the peak of a plan that counts as fitting: the plan is tight for sure.
inline bool is_tight(double peak, double capacity) {
    return std::abs(peak / capacity - 1) <= kMemoryBelief;
}

/// A plan that holds more than one that does not count as fitting does not count as fitting either, so that a lower bound proves it.
inline bool may_fit(const SearchSection& asked, double peak, double capacity) {
    return asked.memory_margin ? peak <= capacity * (1 - *asked.memory_margin)
                               : peak <= capacity || is_tight(peak, capacity);
}

/// How much too much it is, beyond what is asked to stay free; below 0 where there is room.
inline double bytes_over(const SearchSection& asked, double peak, double capacity) {
    return peak - capacity * (1 - asked.memory_margin.value_or(0));
}

}  // namespace podsim::scenarios
