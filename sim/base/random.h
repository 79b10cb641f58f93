// Random numbers that are equal on every machine. They use only integer mixing and exact
// arithmetic, no distribution of a library.
#pragma once

#include <cstdint>

namespace podsim::sim {

/// Returns the next number of SplitMix64, a sequence of well-mixed 64-bit numbers.
std::uint64_t next_random(std::uint64_t& state);

/// Returns the sum of the next twelve uniform numbers from 0 to 1 (53 bits each), less 6. It is
/// close to a normal distribution of mean 0 and variance 1, within -6 to 6.
double near_normal(std::uint64_t& state);

/// Returns e^x for |x| <= 600, within a few units in the last place. It splits x = k ln 2 + r with
/// |r| <= ln 2 / 2 and sums the series of e^r, with products and sums alone.
double exponential(double x);

}  // namespace podsim::sim
