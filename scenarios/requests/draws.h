// Random draws that are the same on every machine: the kernel's whole-number generator, then sums, products and square
// roots (exactly rounded by IEEE 754), no library's distribution and no libm logarithm.
#pragma once

#include <cstdint>

namespace podsim::scenarios {

/// The natural logarithm of x > 0, within a few units in the last place: x = 2^k m with m near 1, and the series of the
/// inverse hyperbolic tangent, ln m = 2 artanh((m - 1) / (m + 1)).
double natural_logarithm(double x);

/// A sequence of draws of its own for each (seed, stream).
class Draws {
public:
    Draws(std::uint64_t seed, std::uint64_t stream);

    /// Uniform in (0, 1): the middles of 2^52 equal intervals.
    double uniform();
    /// Uniform among least..most, both included: by 64 x 64-bit multiplication, its bias below 2^-40 for ranges up to 2^24.
    std::int64_t whole(std::int64_t least, std::int64_t most);
    /// Exponential of mean 1, by inversion: -ln(u).
    double exponential();
    /// Normal of mean 0 and variance 1, by Marsaglia's polar method (SIAM Review 6, 1964).
    double normal();

private:
    std::uint64_t state_;
};

}  // namespace podsim::scenarios
