// Random numbers that are the same on every machine: whole-number mixing and exact arithmetic, no library's distribution.
#pragma once

#include <cstdint>

namespace podsim::sim {

/// SplitMix64: the next of a sequence of well-mixed 64-bit numbers.
std::uint64_t next_random(std::uint64_t& state);

/// The sum of the next twelve uniform numbers from 0 to 1 (53 bits each), less 6: mean 0, variance 1, close to a normal
/// distribution, from -6 to 6.
double near_normal(std::uint64_t& state);

/// e^x by x = k ln 2 + r, |r| <= ln 2 / 2, and the series of e^r: products and sums alone, within a few units in the last
/// place. For |x| <= 600.
double exponential(double x);

}  // namespace podsim::sim
