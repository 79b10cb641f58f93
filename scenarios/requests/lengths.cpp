#include "scenarios/requests/lengths.h"

#include <algorithm>
#include <cmath>

#include "sim/base/random.h"

namespace podsim::scenarios {

std::int64_t draw_length(const LengthSpec& spec, Draws& draws) {
    switch (spec.kind) {
        case LengthKind::fixed:
            return spec.least;
        case LengthKind::uniform:
            return draws.whole(spec.least, spec.most);
        case LengthKind::lognormal: {
            const double mu = natural_logarithm(spec.mean) - spec.sigma * spec.sigma / 2;
            const double drawn = sim::exponential(mu + spec.sigma * draws.normal());
            // Held within the limits before it becomes a whole number: a tail may leave its range.
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

}  // namespace podsim::scenarios
