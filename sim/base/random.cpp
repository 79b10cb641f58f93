#include "sim/base/random.h"

namespace podsim::sim {

std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state;
    mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31U;
}

double near_normal(std::uint64_t& state) {
    constexpr int kNumbers = 12;
    constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
    double sum = 0;
    for (int i = 0; i < kNumbers; ++i) {
        sum += static_cast<double>(next_random(state) >> 11U) * kUnit;
    }
    return sum - kNumbers / 2.0;
}

double exponential(double x) {
    // ln 2 = kHigh + kLow; kHigh ends in zero bits.
    constexpr double kHigh = 0.693147180369123816490;
    constexpr double kLow = 1.90821492927058770002e-10;
    constexpr int kTerms = 16;
    const double halves = x / (kHigh + kLow) + (x < 0 ? -0.5 : 0.5);
    const int k = static_cast<int>(halves);
    const double r = (x - k * kHigh) - k * kLow;
    double sum = 1;
    for (int n = kTerms; n > 0; --n) {
        sum = 1 + sum * r / n;
    }
    for (int i = 0; i < (k < 0 ? -k : k); ++i) {
        sum *= k < 0 ? 0.5 : 2;
    }
    return sum;
}

}  // namespace podsim::sim
