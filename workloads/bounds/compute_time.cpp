#include "workloads/bounds/compute_time.h"

#include <algorithm>
#include <cmath>

namespace podsim::workloads {
namespace {

double volume(const MatmulShape& shape) {
    return shape.m * shape.k * shape.n * shape.count;
}

double padded(double dimension, int mxu) {
    return std::ceil(dimension / mxu) * mxu;
}

double padded_volume(const MatmulShape& shape, int mxu) {
    // Rows stream through the array: they only have to fill it once.
    return std::max(shape.m, static_cast<double>(mxu)) * padded(shape.k, mxu) *
           padded(shape.n, mxu) * shape.count;
}

/// In the forward pass, splash attention with a constant maximum neither finds it nor rescales its
/// sums. It reaches 432 TFLOP/s on a core of tpu7x instead of 338 (yangwhale/gpu-tpu-pedia
/// @3fa9ce1, tpu/Hunyuan3-295B-Pretraining/TUNING-v7.md; in the backward pass both are alike).
constexpr double kPaceOfKnownMaximum = 1.28;

double mxu_share(const MatmulShape& shape, const Compute& work, const MachineRates& rates) {
    const topology::Efficiency& reached = rates.efficiency;
    if (work.attention) {
        const bool backward = work.attention_gradient && reached.attention_backward > 0;
        return std::min((backward ? reached.attention_backward : reached.attention) *
                            (work.known_max_logit ? kPaceOfKnownMaximum : 1),
                        1.0);
    }
    // If 8 bits are no faster, they go through the array like bf16: it takes twice the cycles
    // for a tile of twice the rows (XLA @acb91cb, xla/benchmarks/core/platform_info.py, fp8 on
    // v5e, v5p and v6e).
    const double of_dtype = rates.peak(work.dtype) > rates.flops ? reached.mxu_8bit : 1;
    if (!work.steps.empty() && reached.mxu_grouped > 0) {
        return reached.mxu_grouped * of_dtype;
    }
    const double smallest = std::min({shape.m, shape.k, shape.n});
    return reached.mxu * of_dtype * smallest / (smallest + reached.mxu_ramp);
}

/// Returns the fraction of an operation's elementwise work that hides beneath its
/// matmul; ideally all.
double hidden_share(const Compute& work, double fusion) {
    if (work.attention || fusion == 1) {
        return 1;
    }
    return work.kernel ? 0 : fusion;
}

sim::Seconds stepwise(const Compute& work, const MachineRates& rates) {
    sim::Seconds sum{};
    for (const KernelStep& step : work.steps) {
        // The next tile's columns are there when few rows have streamed through. Kernels whose
        // tiles have 128 rows take no longer for them on arrays of 256
        // (scenarios/published/microbenchmarks/grouped-*).
        const double volume = step.tile.m * padded(step.tile.k, rates.mxu_dimension) *
                              padded(step.tile.n, rates.mxu_dimension);
        const double reached = volume / mxu_share(step.tile, work, rates);
        const sim::Seconds tile = sim::Flops(2 * reached * work.passes) / rates.peak(work.dtype);
        const sim::Seconds blocks = sim::Bytes(step.bytes) / rates.hbm;
        const sim::Seconds masks = sim::Flops(step.masked) / (rates.vpu * rates.efficiency.vpu);
        const sim::Seconds beside = sim::Flops(step.beside) / (rates.vpu * rates.efficiency.vpu);
        const sim::Seconds begin(step.loop ? 0 : rates.efficiency.grid_step_s / step.cores);
        sum += (std::max({tile + masks, beside, blocks}) + begin) * step.count;
    }
    return sum;
}

}  // namespace

ComputeTime compute_time(const Compute& work, const MachineRates& rates) {
    double plain = 0;
    double with_padding = 0;
    double reached = 0;
    for (const MatmulShape& shape : work.matmuls) {
        if (volume(shape) == 0) {
            continue;  // no rows: there is nothing to fill the array with
        }
        const double padded = padded_volume(shape, rates.mxu_dimension);
        plain += volume(shape);
        with_padding += padded;
        reached += padded / mxu_share(shape, work, rates);
    }
    ComputeTime time;
    time.mxu = work.flops.value() > 0 ? work.flops * work.passes / rates.peak(work.dtype)
                                      : sim::Seconds(0);
    time.mxu_padded = plain > 0 ? time.mxu * (with_padding / plain) * work.tiled : time.mxu;
    time.mxu_reached = plain > 0 ? time.mxu * (reached / plain) * work.tiled : time.mxu;
    time.mxu_reached += sim::Seconds(work.grid_steps * rates.efficiency.grid_step_s);
    time.hbm = work.hbm / rates.hbm;
    if (rates.efficiency.grid_step_s > 0 && plain > 0) {
        time.stepwise = stepwise(work, rates);
        for (const KernelStep& step : work.steps) {
            time.beside +=
                sim::Flops(step.beside) / (rates.vpu * rates.efficiency.vpu) * step.count;
        }
    }
    time.vpu = work.vector / (rates.vpu * rates.efficiency.vpu);
    time.waits = work.gathered / rates.hbm *
                 std::max(rates.efficiency.hbm / rates.efficiency.gather - 1, 0.0);
    time.fusion = hidden_share(work, rates.efficiency.fusion);
    time.apart = time.fusion < 1 ? work.apart / rates.hbm : sim::Seconds{};
    time.elementwise = std::max(time.vpu, work.elementwise / rates.hbm - time.apart + time.waits);
    time.matmul_hbm = (work.hbm - work.elementwise) / rates.hbm;
    time.host = sim::Seconds(work.host_turns * rates.efficiency.host_s);
    if (std::max({time.mxu_reached, time.hbm, time.vpu}) > sim::Seconds(0)) {
        time.start = sim::Seconds((work.continues ? 0 : rates.efficiency.kernel_s) +
                                  work.sequences * rates.efficiency.sequence_s);
    }
    return time;
}

}  // namespace podsim::workloads
