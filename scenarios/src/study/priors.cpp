#include "scenarios/src/study/priors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace podsim::scenarios {
namespace {

constexpr std::array kPriors{
    Prior{"mxu", 0.85, 0.15, true,
          "large matmuls alone reach 0.83 (tpu7x) to 0.90 (v6e) of the peak"},
    Prior{"mxu_ramp", 128, 1, true,
          "the side of a systolic array: a matmul fills it and drains it"},
    Prior{"mxu_8bit", 0.9, 0.1, true,
          "int8 matmuls alone on v6e take 0.54 to 0.61 of their time in bf16, not 0.5"},
    Prior{"mxu_grouped", 0.85, 0.15, true, "as large matmuls alone, apart from the grid's steps"},
    Prior{"grid_step_s", 3.5e-7, 0.8, true, "about the latency of starting a copy to VMEM"},
    Prior{"attention", 0.5, 0.4, true,
          "heads of 128 fill half of an array of 256, and the vector unit waits"},
    Prior{"attention_backward", 0.5, 0.4, true,
          "as forward: its softmax is known, and it multiplies more"},
    Prior{"vpu", 0.8, 0.3, true, "no measurement: a little below its peak, like the others"},
    Prior{"hbm", 0.85, 0.1, true, "copies reach 0.83 (v6e) and 0.87 (tpu7x)"},
    Prior{"fusion", 0.5, 0.5, false, "no measurement: the middle of its range"},
    Prior{"gather", 0.3, 0.5, true,
          "rows of 4 KB reach 0.20 on v5p, of 12 KB 0.15 to 0.54 on tpu7x, of HBM bandwidth"},
    Prior{"ici", 0.85, 0.15, true,
          "AllGathers and an AllReduce reach 0.69 to 0.99 of the book's rate"},
    Prior{"dcn", 0.7, 0.3, true,
          "no measurement: a network shared by hosts rarely gives its line rate"},
    Prior{"launch_s", 4e-6, 0.8, true,
          "AllGathers of some kB take 2 to 13 us more than their bytes"},
    Prior{"straggler", 0.02, 0.02, false,
          "no measurement: a few per cent for a doubling of slices"},
    Prior{"kernel_s", 4e-6, 0.8, true,
          "a small matmul alone (tpu7x) takes 4 us more than its FLOPs"},
    Prior{"sequence_s", 5e-7, 1, true,
          "no measurement: about the latency of a copy from HBM, which a sequence's first block "
          "waits for"},
    Prior{"host_s", 1e-3, 1, true,
          "no measurement: schedulers of serving engines take about a millisecond a step"},
};

constexpr double kLeastShare = 1e-9;  // a logarithm needs a value above zero

}  // namespace

const Prior& prior_of(std::string_view factor) {
    return *std::ranges::find(kPriors, factor, &Prior::factor);
}

double to_deviations(const topology::EfficiencyFactor& factor, double value) {
    const Prior& prior = prior_of(factor.name);
    return prior.logarithm ? std::log(std::max(value, kLeastShare) / prior.value) / prior.spread
                           : (value - prior.value) / prior.spread;
}

double from_deviations(const topology::EfficiencyFactor& factor, double deviations) {
    const Prior& prior = prior_of(factor.name);
    const double value = prior.logarithm ? prior.value * std::exp(deviations * prior.spread)
                                         : prior.value + deviations * prior.spread;
    return std::clamp(value, factor.least, factor.most);
}

}  // namespace podsim::scenarios
