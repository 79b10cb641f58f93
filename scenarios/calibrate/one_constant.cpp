#include "scenarios/calibrate/one_constant.h"

#include <cmath>

namespace podsim::scenarios {

std::optional<double> rule_time(RuleKey key, std::span<const Measurement> known,
                                const Measurement& step) {
    const auto at_peak = [&](const Measurement& one) {
        return one.work / (key == RuleKey::chip ? one.bf16_peak : one.matmul_peak);
    };
    const auto mean = [&](auto&& alike) -> std::optional<double> {
        double sum = 0;
        int count = 0;
        for (const Measurement& one : known) {
            if (one.what == Measured::step && alike(one)) {
                sum += std::log(at_peak(one) / one.measured_s);
                ++count;
            }
        }
        return count > 0 ? std::optional(sum / count) : std::nullopt;
    };
    const auto same_chip = [&](const Measurement& one) { return one.chip == step.chip; };
    const auto same_matmuls = [&](const Measurement& one) {
        return one.kind.quantised == step.kind.quantised;
    };
    std::optional<double> share;
    if (key == RuleKey::chip_and_precision) {
        share = mean([&](const Measurement& one) { return same_chip(one) && same_matmuls(one); });
    }
    if (!share) {
        share = mean(same_chip);
    }
    if (!share && key == RuleKey::chip_and_precision) {
        share = mean(same_matmuls);
    }
    if (!share) {
        share = mean([](const Measurement&) { return true; });
    }
    return share ? std::optional(at_peak(step) / std::exp(*share)) : std::nullopt;
}

}  // namespace podsim::scenarios
