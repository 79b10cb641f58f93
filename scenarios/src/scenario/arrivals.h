// Arrivals of requests: at random with a rate, at the times of a trace, or in a closed loop, where
// each client sends its next request when it is answered.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/src/scenario/client_request.h"

namespace podsim::scenarios {

// Random draws that are the same on every machine. They use the kernel's whole-number generator and
// then sums, products and square roots (exactly rounded by IEEE 754), but no library's distribution
// and no libm logarithm.

/// Returns the natural logarithm of x > 0 within a few units in the last place: x = 2^k m with m
/// near 1, and the series of the inverse hyperbolic tangent, ln m = 2 artanh((m - 1) / (m + 1)).
double natural_logarithm(double x);

/// A sequence of draws for each (seed, stream).
class Draws {
public:
    Draws(std::uint64_t seed, std::uint64_t stream);

    /// Draws uniformly from (0, 1): the middles of 2^52 equal intervals.
    double uniform();
    /// Draws uniformly from least..most, both included, by 64 x 64-bit multiplication. Its bias is
    /// below 2^-40 for ranges up to 2^24.
    std::int64_t whole(std::int64_t least, std::int64_t most);
    /// Draws from the exponential distribution of mean 1, by inversion: -ln(u).
    double exponential();
    /// Draws from the normal distribution of mean 0 and variance 1, by Marsaglia's polar method
    /// (SIAM Review 6, 1964).
    double normal();

private:
    std::uint64_t state_;
};

enum class LengthKind {
    fixed,    ///< `least` tokens
    uniform,  ///< whole numbers least..most, equally likely
    /// e^(mu + sigma z) with mu = ln(mean) - sigma^2 / 2, rounded, clamped to least..most.
    lognormal,
};

struct LengthSpec {
    LengthKind kind = LengthKind::fixed;
    std::int64_t least = 1;
    std::int64_t most = 1;
    double mean = 1;   ///< lognormal: before it is clamped to least..most
    double sigma = 0;  ///< lognormal: standard deviation of the logarithm
};

std::int64_t draw_length(const LengthSpec& spec, Draws& draws);

/// Returns the longest that may be drawn.
std::int64_t longest(const LengthSpec& spec);

enum class ArrivalKind {
    poisson,  ///< independent exponential times between requests
    trace,    ///< the times of a file
    /// Closed loop: a request arrives when another ends, so that `concurrency` are in the system.
    concurrency,
};

struct LoadSpec {
    ArrivalKind arrivals = ArrivalKind::poisson;
    double rate = 1;               ///< poisson: requests a second
    std::int64_t concurrency = 1;  ///< closed loop: clients
    /// Number of all requests; for a trace the limit of its rows.
    std::int64_t requests = 1;
    std::uint64_t seed = 1;
    LengthSpec prompt;
    LengthSpec output;
    /// Fraction of each prompt that a prefix cache holds, rounded down to tokens.
    double prefix_share = 0;
    /// Tokens with which every prompt begins; held once.
    std::int64_t common_prefix = 0;
    /// Requests by arrival. For other arrivals their lengths are drawn from its rows.
    std::vector<Request> trace;
};

/// Returns the requests in the order of their arrival (in a closed loop: of their number), the same
/// for the same seed. Throws sim::TimeOverflow if they arrive later than the clock reaches.
std::vector<Request> draw_requests(const LoadSpec& load);

}  // namespace podsim::scenarios
