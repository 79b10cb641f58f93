#include "scenarios/requests/draws.h"

#include <cmath>

#include "sim/base/random.h"

namespace podsim::scenarios {

double natural_logarithm(double x) {
    constexpr double kLn2 = 0.693147180559945309417;
    constexpr double kRootHalf = 0.707106781186547524401;
    constexpr int kLastPower = 23;  // (3 - 2 sqrt 2)^23 / 23 < 2^-60
    int power = 0;
    double m = std::frexp(x, &power);  // exact
    if (m < kRootHalf) {
        m *= 2;
        --power;
    }
    const double s = (m - 1) / (m + 1);
    double series = 0;
    for (int n = kLastPower; n > 0; n -= 2) {
        series = series * (s * s) + 1.0 / n;
    }
    return power * kLn2 + 2 * s * series;
}

Draws::Draws(std::uint64_t seed, std::uint64_t stream) : state_(seed) {
    // The stream's number goes through the mixing, so that neighbouring seeds and streams share no run of draws.
    std::uint64_t offset = stream;
    state_ = sim::next_random(state_) ^ sim::next_random(offset);
}

double Draws::uniform() {
    constexpr double kUnit = 1.0 / 4503599627370496.0;  // 2^-52
    return (static_cast<double>(sim::next_random(state_) >> 12U) + 0.5) * kUnit;
}

std::int64_t Draws::whole(std::int64_t least, std::int64_t most) {
    const auto range = static_cast<std::uint64_t>(most - least) + 1;
    __extension__ using Wide = unsigned __int128;
    const auto drawn = static_cast<std::uint64_t>(
        static_cast<Wide>(sim::next_random(state_)) * static_cast<Wide>(range) >> 64U);
    return least + static_cast<std::int64_t>(drawn);
}

double Draws::exponential() {
    return -natural_logarithm(uniform());
}

double Draws::normal() {
    for (;;) {
        const double u = 2 * uniform() - 1;
        const double v = 2 * uniform() - 1;
        const double square = u * u + v * v;
        if (square < 1 && square > 0) {
            return u * std::sqrt(-2 * natural_logarithm(square) / square);
        }
    }
}

}  // namespace podsim::scenarios
