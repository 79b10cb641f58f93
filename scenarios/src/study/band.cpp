#include "scenarios/src/study/band.h"

#include <algorithm>
#include <cmath>

namespace podsim::scenarios {
namespace {

constexpr std::size_t kFourOf = 4;  // 80 %: four of five
constexpr std::size_t kFive = 5;
constexpr double kLeastWidening = 1.5;

}  // namespace

double four_of_five(std::vector<double> sizes) {
    if (sizes.empty()) {
        return 0;
    }
    std::ranges::sort(sizes);
    return sizes[(kFourOf * sizes.size() + kFive - 1) / kFive - 1];
}

bool is_like_others(const HeldOutError& step, std::span<const HeldOutError> all) {
    const auto any = [&](const auto& holds) {
        return std::ranges::any_of(all, [&](const HeldOutError& other) {
            return other.family != step.family && holds(other);
        });
    };
    return any([&](const HeldOutError& other) { return other.kind == step.kind; }) &&
           any([&](const HeldOutError& other) {
               return other.kind.experts == step.kind.experts && other.d_model <= step.d_model;
           });
}

ErrorBand error_band(std::span<const HeldOutError> errors) {
    std::vector<double> like;
    std::vector<double> unlike;
    ErrorBand band;
    for (const HeldOutError& one : errors) {
        (is_like_others(one, errors) ? like : unlike).push_back(std::abs(one.error));
        if (std::ranges::find(band.measured, one.kind) == band.measured.end()) {
            band.measured.push_back(one.kind);
        }
        std::int64_t& from = one.kind.experts ? band.experts_from : band.dense_from;
        from = from == 0 ? one.d_model : std::min(from, one.d_model);
    }
    std::ranges::sort(band.measured);
    band.like = four_of_five(like.empty() ? unlike : like);
    band.unlike = std::max(four_of_five(unlike), kLeastWidening * band.like);
    return band;
}

double coverage(const ErrorBand& band, std::span<const HeldOutError> errors) {
    double within = 0;
    for (const HeldOutError& one : errors) {
        const double share = is_like_others(one, errors) ? band.like : band.unlike;
        within += std::abs(one.error) <= share ? 1 : 0;
    }
    return errors.empty() ? 0 : within / static_cast<double>(errors.size());
}

}  // namespace podsim::scenarios
