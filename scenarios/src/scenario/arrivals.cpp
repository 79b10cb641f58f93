#include "scenarios/src/scenario/arrivals.h"

#include <algorithm>
#include <cmath>

#include "sim/base/random.h"

namespace podsim::scenarios {
namespace {

enum Stream : std::uint64_t { kArrivals, kPrompts, kOutputs, kRows };

/// Returns the tokens of a prompt that a prefix cache holds: never the last one, whose logits must
/// be computed.
std::int64_t prefix_of(const LoadSpec& load, std::int64_t prompt) {
    if (load.common_prefix > 0) {
        return prompt > load.common_prefix ? load.common_prefix : 0;
    }
    const double share = load.prefix_share * static_cast<double>(prompt);
    return std::min(static_cast<std::int64_t>(share), prompt - 1);
}

}  // namespace

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
    // The stream's number is mixed too, so that neighbouring seeds and streams share no sequence of
    // draws.
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

std::int64_t draw_length(const LengthSpec& spec, Draws& draws) {
    switch (spec.kind) {
        case LengthKind::fixed:
            return spec.least;
        case LengthKind::uniform:
            return draws.whole(spec.least, spec.most);
        case LengthKind::lognormal: {
            const double mu = natural_logarithm(spec.mean) - spec.sigma * spec.sigma / 2;
            const double drawn = sim::exponential(mu + spec.sigma * draws.normal());
            // The value is clamped before it becomes a whole number, because a tail may leave the
            // integer range.
            const double held =
                std::clamp(drawn, static_cast<double>(spec.least), static_cast<double>(spec.most));
            return static_cast<std::int64_t>(std::floor(held + 0.5));
        }
    }
    return spec.least;
}

std::int64_t longest(const LengthSpec& spec) {
    return spec.kind == LengthKind::fixed ? spec.least : spec.most;
}

std::vector<Request> draw_requests(const LoadSpec& load) {
    const auto rows = static_cast<std::int64_t>(load.trace.size());
    if (load.arrivals == ArrivalKind::trace) {
        const auto end = load.trace.begin() + std::min(load.requests, rows);
        return {load.trace.begin(), end};
    }
    Draws arrivals(load.seed, kArrivals);
    Draws prompts(load.seed, kPrompts);
    Draws outputs(load.seed, kOutputs);
    Draws row(load.seed, kRows);
    std::vector<Request> requests;
    requests.reserve(static_cast<std::size_t>(load.requests));
    double seconds = 0;
    for (std::int64_t i = 0; i < load.requests; ++i) {
        Request request;
        if (rows > 0) {
            request = load.trace[static_cast<std::size_t>(row.whole(0, rows - 1))];
        } else {
            request.prompt = draw_length(load.prompt, prompts);
            request.output = draw_length(load.output, outputs);
            request.prefix = prefix_of(load, request.prompt);
        }
        request.arrival = {};
        if (load.arrivals == ArrivalKind::poisson) {
            seconds += arrivals.exponential() / load.rate;
            request.arrival = sim::round_up(sim::Seconds(seconds));
        }
        requests.push_back(request);
    }
    return requests;
}

}  // namespace podsim::scenarios
