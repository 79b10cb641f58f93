#include "topology/chips/measured_versions.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace podsim::topology {
namespace {

constexpr std::string_view kFitted =
    "fitted to the published steps of the chip (podsim calibrate scenarios/published)";
constexpr std::string_view kPooled =
    "fitted to the published steps of all chips (podsim calibrate scenarios/published)";
constexpr std::string_view kCopyV6e =
    "a copy of 33.55 MB on v6e reaches 1359.6 of 1638 GB/s (tpu-recipes, microbenchmarks)";
constexpr std::string_view kCopyTpu7x =
    "copies of 134 MB and more on tpu7x reach 6400 of 7380 GB/s (tpu-recipes, microbenchmarks)";
constexpr std::string_view kGatherV5e =
    "an AllGather of 33.6 MB over 4 chips of v5e in a line takes 680 us, 560 us at the book's rate "
    "(How to Scale Your Model, section 3)";
constexpr std::string_view kGatherTpu7x =
    "AllGathers on tpu7x reach 89.4 GB/s a link (tpu-recipes, microbenchmarks)";
constexpr std::string_view kTinyV5e =
    "an AllGather of 131 kB over the same chips takes about 8 us, three hops of 1 us and 2.7 us of "
    "bytes (How to Scale Your Model, section 3)";
constexpr std::string_view kTinyTpu7x =
    "AllGathers of 1.57 MB on tpu7x take 21.9 us (tpu-recipes, microbenchmarks)";
constexpr std::string_view kMatmulTpu7x =
    "a matmul of 32768^3 on tpu7x reaches 956 of 1153 TFLOP/s of a core (tpu-recipes, "
    "microbenchmarks)";

/// Version 1: fitted to 23 published steps and microbenchmarks.
constexpr std::array kVersion1{
    Measured{"v4p", "mxu", 0.758, kFitted},     Measured{"v5e", "mxu", 0.793, kFitted},
    Measured{"v5p", "mxu", 0.808, kFitted},     Measured{"v6e", "mxu", 0.804, kFitted},
    Measured{"", "attention", 0.421, kPooled},  Measured{"", "fusion", 0, kPooled},
    Measured{"", "straggler", 0.0299, kPooled}, Measured{"", "hbm", 0.83, kCopyV6e},
    Measured{"", "ici", 0.82, kGatherV5e},      Measured{"", "launch_s", 2.3e-6, kTinyV5e},
};

/// Version 2: that of version 1, and tpu7x by its microbenchmarks.
constexpr std::array kVersion2{
    Measured{"v4p", "mxu", 0.758, kFitted},
    Measured{"v5e", "mxu", 0.793, kFitted},
    Measured{"v5p", "mxu", 0.808, kFitted},
    Measured{"v6e", "mxu", 0.804, kFitted},
    Measured{"tpu7x", "mxu", 0.829, kMatmulTpu7x},
    Measured{"", "attention", 0.421, kPooled},
    Measured{"", "fusion", 0, kPooled},
    Measured{"", "straggler", 0.0299, kPooled},
    Measured{"", "hbm", 0.83, kCopyV6e},
    Measured{"tpu7x", "hbm", 0.867, kCopyTpu7x},
    Measured{"", "ici", 0.82, kGatherV5e},
    Measured{"tpu7x", "ici", 0.994, kGatherTpu7x},
    Measured{"", "launch_s", 2.3e-6, kTinyV5e},
    Measured{"tpu7x", "launch_s", 8e-6, kTinyTpu7x},
};

constexpr std::string_view kPriorFusion =
    "no measurement determines it: the middle of its range (podsim calibrate)";
constexpr std::string_view kMeanOfChips =
    "the geometric mean of the chips whose microbenchmarks define it";
constexpr std::string_view kPsumV6e =
    "an AllReduce of 606 MB over 256 chips of v6e takes 5.12 ms (tpu-recipes, microbenchmarks)";
constexpr std::string_view kPsumSlicesV6e =
    "AllReduces between slices of v6e move 32.9 of 100 GB/s a host (tpu-recipes, microbenchmarks)";

/// Version 3: fitted to the steps of both published sets, microbenchmarks first, with full remat as JAX has it, kernels in
/// blocks, experts in tiles, and gathers in the dtype that scales allow.
constexpr std::array kVersion3{
    Measured{"v4p", "mxu", 0.736, kFitted},
    Measured{"v5e", "mxu", 0.840, kFitted},
    Measured{"v5p", "mxu", 0.859, kFitted},
    Measured{"v6e", "mxu", 0.785, kFitted},
    Measured{"tpu7x", "mxu", 0.829, kMatmulTpu7x},
    Measured{"", "attention", 0.420, kPooled},
    Measured{"", "fusion", 0.5, kPriorFusion},
    Measured{"", "straggler", 0.0336, kPooled},
    Measured{"", "hbm", 0.858, kMeanOfChips},
    Measured{"v6e", "hbm", 0.850, kCopyV6e},
    Measured{"tpu7x", "hbm", 0.867, kCopyTpu7x},
    Measured{"", "ici", 0.815, kMeanOfChips},
    Measured{"v5e", "ici", 0.827, kGatherV5e},
    Measured{"v6e", "ici", 0.656, kPsumV6e},
    Measured{"tpu7x", "ici", 0.998, kGatherTpu7x},
    Measured{"", "dcn", 0.329, kPsumSlicesV6e},
    Measured{"", "launch_s", 5.3e-6, kMeanOfChips},
    Measured{"v5e", "launch_s", 2.37e-6, kTinyV5e},
    Measured{"tpu7x", "launch_s", 1.2e-5, kTinyTpu7x},
};

constexpr std::string_view kFittedByChip =
    "fitted to the published steps of the chip (podsim calibrate scenarios/published --per-chip "
    "mxu,straggler,mxu_8bit --pooled gather)";
constexpr std::string_view kPooledGather =
    "fitted to the published steps of all chips (podsim calibrate scenarios/published --per-chip "
    "mxu,straggler,mxu_8bit --pooled gather)";
constexpr std::string_view kPriorStraggler =
    "few of its steps have several slices: a few per cent for a doubling (podsim calibrate)";
constexpr std::string_view kKernelTpu7x =
    "attention kernels of tpu7x, padded, on 4k to 128k tokens, forward and backward "
    "(openxla/tokamax, splash_attention/microbenchmarks.pdf)";

/// Version 4: attention by its kernels, with the softmax that they hide; experts' rows at a rate of their own; fitted to more steps, and
/// tpu7x's matmuls to its steps as those of other chips.
constexpr std::array kVersion4{
    Measured{"v4p", "mxu", 0.717, kFittedByChip},
    Measured{"v5e", "mxu", 0.815, kFittedByChip},
    Measured{"v5p", "mxu", 0.809, kFittedByChip},
    Measured{"v6e", "mxu", 0.627, kFittedByChip},
    Measured{"tpu7x", "mxu", 0.712, kFittedByChip},
    Measured{"", "attention", 0.694, kKernelTpu7x},
    Measured{"", "fusion", 0.5, kPriorFusion},
    Measured{"", "gather", 0.1175, kPooledGather},
    Measured{"", "straggler", 0.02, kPriorStraggler},
    Measured{"v5e", "straggler", 0.0337, kFittedByChip},
    Measured{"", "hbm", 0.858, kMeanOfChips},
    Measured{"v6e", "hbm", 0.850, kCopyV6e},
    Measured{"tpu7x", "hbm", 0.867, kCopyTpu7x},
    Measured{"", "ici", 0.815, kMeanOfChips},
    Measured{"v5e", "ici", 0.827, kGatherV5e},
    Measured{"v6e", "ici", 0.656, kPsumV6e},
    Measured{"tpu7x", "ici", 0.998, kGatherTpu7x},
    Measured{"", "dcn", 0.329, kPsumSlicesV6e},
    Measured{"", "launch_s", 5.3e-6, kMeanOfChips},
    Measured{"v5e", "launch_s", 2.37e-6, kTinyV5e},
    Measured{"tpu7x", "launch_s", 1.25e-5, kTinyTpu7x},
};

constexpr std::string_view kInt8V6e =
    "no steps determine it; int8 matmuls alone on v6e take 0.54 to 0.61 of their time in bf16 "
    "(yangwhale/gpu-tpu-pedia, tpu/v7_perf)";
constexpr std::string_view kInt8V4p = "its int8 matmuls are as fast as those in bf16";

/// Version 5: matmuls of 8 bits at a share of their own, experts in the tiles that recipes set, and seven steps more.
constexpr std::array kVersion5{
    Measured{"v4p", "mxu", 0.717, kFittedByChip},
    Measured{"v5e", "mxu", 0.815, kFittedByChip},
    Measured{"v5p", "mxu", 0.805, kFittedByChip},
    Measured{"v6e", "mxu", 0.630, kFittedByChip},
    Measured{"tpu7x", "mxu", 0.755, kFittedByChip},
    Measured{"", "mxu_8bit", 0.9, kInt8V6e},
    Measured{"v4p", "mxu_8bit", 1, kInt8V4p},
    Measured{"v5p", "mxu_8bit", 1, kFittedByChip},
    Measured{"tpu7x", "mxu_8bit", 0.835, kFittedByChip},
    Measured{"", "attention", 0.694, kKernelTpu7x},
    Measured{"", "fusion", 0.5, kPriorFusion},
    Measured{"", "gather", 0.1405, kPooledGather},
    Measured{"", "straggler", 0.02, kPriorStraggler},
    Measured{"v5e", "straggler", 0.0337, kFittedByChip},
    Measured{"", "hbm", 0.858, kMeanOfChips},
    Measured{"v6e", "hbm", 0.850, kCopyV6e},
    Measured{"tpu7x", "hbm", 0.867, kCopyTpu7x},
    Measured{"", "ici", 0.815, kMeanOfChips},
    Measured{"v5e", "ici", 0.827, kGatherV5e},
    Measured{"v6e", "ici", 0.656, kPsumV6e},
    Measured{"tpu7x", "ici", 0.998, kGatherTpu7x},
    Measured{"", "dcn", 0.329, kPsumSlicesV6e},
    Measured{"", "launch_s", 5.3e-6, kMeanOfChips},
    Measured{"v5e", "launch_s", 2.37e-6, kTinyV5e},
    Measured{"tpu7x", "launch_s", 1.25e-5, kTinyTpu7x},
};

constexpr std::string_view kForwardTpu7x =
    "attention kernels of tpu7x, padded, forward on 4k to 128k tokens "
    "(openxla/tokamax, splash_attention/microbenchmarks.pdf)";
constexpr std::string_view kBackwardTpu7x =
    "the same kernels' gradients (openxla/tokamax, splash_attention/microbenchmarks.pdf)";
constexpr std::string_view kGroupedTpu7x =
    "36 grouped matmuls alone on tpu7x, 128k to 512k rows, within 7.1 %, taken to have run in "
    "P-state 7 (openxla/tokamax, "
    "pallas_mosaic_tpu_ragged_dot.json)";

/// Version 6: grouped matmuls step by step, attention forward and backward each by its kernels, the clock of published runs, and the tiles that
/// tokamax chose in them.
constexpr std::array kVersion6{
    Measured{"v4p", "mxu", 0.717, kFittedByChip},
    Measured{"v5e", "mxu", 0.814, kFittedByChip},
    Measured{"v5p", "mxu", 0.830, kFittedByChip},
    Measured{"v6e", "mxu", 0.628, kFittedByChip},
    Measured{"tpu7x", "mxu", 0.738, kFittedByChip},
    Measured{"", "mxu_8bit", 0.9, kInt8V6e},
    Measured{"v4p", "mxu_8bit", 1, kInt8V4p},
    Measured{"v5p", "mxu_8bit", 1, kFittedByChip},
    Measured{"tpu7x", "mxu_8bit", 0.849, kFittedByChip},
    Measured{"", "mxu_grouped", 0.832, kGroupedTpu7x},
    Measured{"", "grid_step_s", 7.55e-7, kGroupedTpu7x},
    Measured{"", "attention", 0.645, kForwardTpu7x},
    Measured{"", "attention_backward", 0.747, kBackwardTpu7x},
    Measured{"", "fusion", 0.5, kPriorFusion},
    Measured{"", "gather", 0.139, kPooledGather},
    Measured{"", "straggler", 0.02, kPriorStraggler},
    Measured{"v5e", "straggler", 0.0337, kFittedByChip},
    Measured{"", "hbm", 0.857, kMeanOfChips},
    Measured{"v6e", "hbm", 0.850, kCopyV6e},
    Measured{"tpu7x", "hbm", 0.864, kCopyTpu7x},
    Measured{"", "ici", 0.815, kMeanOfChips},
    Measured{"v5e", "ici", 0.827, kGatherV5e},
    Measured{"v6e", "ici", 0.656, kPsumV6e},
    Measured{"tpu7x", "ici", 0.999, kGatherTpu7x},
    Measured{"", "dcn", 0.329, kPsumSlicesV6e},
    Measured{"", "launch_s", 5.45e-6, kMeanOfChips},
    Measured{"v5e", "launch_s", 2.37e-6, kTinyV5e},
    Measured{"tpu7x", "launch_s", 1.25e-5, kTinyTpu7x},
};

/// Version 8: flash attention in the steps of its grid, each with the time beside its block that grouped matmuls take beside a tile.
constexpr std::array kVersion8{
    Measured{"v4p", "mxu", 0.716, kFittedByChip},
    Measured{"v5e", "mxu", 0.820, kFittedByChip},
    Measured{"v5p", "mxu", 0.838, kFittedByChip},
    Measured{"v6e", "mxu", 0.635, kFittedByChip},
    Measured{"tpu7x", "mxu", 0.740, kFittedByChip},
    Measured{"", "mxu_8bit", 0.9, kInt8V6e},
    Measured{"v4p", "mxu_8bit", 1, kInt8V4p},
    Measured{"v5p", "mxu_8bit", 1, kFittedByChip},
    Measured{"tpu7x", "mxu_8bit", 0.868, kFittedByChip},
    Measured{"", "mxu_grouped", 0.832, kGroupedTpu7x},
    Measured{"", "grid_step_s", 7.55e-7, kGroupedTpu7x},
    Measured{"", "attention", 0.742, kForwardTpu7x},
    Measured{"", "attention_backward", 0.795, kBackwardTpu7x},
    Measured{"", "fusion", 0.5, kPriorFusion},
    Measured{"", "gather", 0.143, kPooledGather},
    Measured{"", "straggler", 0.02, kPriorStraggler},
    Measured{"v5e", "straggler", 0.0337, kFittedByChip},
    Measured{"", "hbm", 0.857, kMeanOfChips},
    Measured{"v6e", "hbm", 0.850, kCopyV6e},
    Measured{"tpu7x", "hbm", 0.864, kCopyTpu7x},
    Measured{"", "ici", 0.815, kMeanOfChips},
    Measured{"v5e", "ici", 0.827, kGatherV5e},
    Measured{"v6e", "ici", 0.656, kPsumV6e},
    Measured{"tpu7x", "ici", 0.999, kGatherTpu7x},
    Measured{"", "dcn", 0.329, kPsumSlicesV6e},
    Measured{"", "launch_s", 5.45e-6, kMeanOfChips},
    Measured{"v5e", "launch_s", 2.37e-6, kTinyV5e},
    Measured{"tpu7x", "launch_s", 1.25e-5, kTinyTpu7x},
};

/// Version 9: queries and keys rotated and normed by kernels of their own.
constexpr std::array kVersion9{
    Measured{"v4p", "mxu", 0.730, kFittedByChip},
    Measured{"v5e", "mxu", 0.848, kFittedByChip},
    Measured{"v5p", "mxu", 0.845, kFittedByChip},
    Measured{"v6e", "mxu", 0.652, kFittedByChip},
    Measured{"tpu7x", "mxu", 0.746, kFittedByChip},
    Measured{"", "mxu_8bit", 0.9, kInt8V6e},
    Measured{"v4p", "mxu_8bit", 1, kInt8V4p},
    Measured{"v5p", "mxu_8bit", 1, kFittedByChip},
    Measured{"tpu7x", "mxu_8bit", 0.873, kFittedByChip},
    Measured{"", "mxu_grouped", 0.832, kGroupedTpu7x},
    Measured{"", "grid_step_s", 7.55e-7, kGroupedTpu7x},
    Measured{"", "attention", 0.742, kForwardTpu7x},
    Measured{"", "attention_backward", 0.795, kBackwardTpu7x},
    Measured{"", "fusion", 0.5, kPriorFusion},
    Measured{"", "gather", 0.158, kPooledGather},
    Measured{"", "straggler", 0.02, kPriorStraggler},
    Measured{"v5e", "straggler", 0.0338, kFittedByChip},
    Measured{"", "hbm", 0.857, kMeanOfChips},
    Measured{"v6e", "hbm", 0.850, kCopyV6e},
    Measured{"tpu7x", "hbm", 0.864, kCopyTpu7x},
    Measured{"", "ici", 0.815, kMeanOfChips},
    Measured{"v5e", "ici", 0.827, kGatherV5e},
    Measured{"v6e", "ici", 0.656, kPsumV6e},
    Measured{"tpu7x", "ici", 0.999, kGatherTpu7x},
    Measured{"", "dcn", 0.329, kPsumSlicesV6e},
    Measured{"", "launch_s", 5.45e-6, kMeanOfChips},
    Measured{"v5e", "launch_s", 2.37e-6, kTinyV5e},
    Measured{"tpu7x", "launch_s", 1.25e-5, kTinyTpu7x},
};

/// Rows behind others count before them.
template <std::size_t N, std::size_t M>
constexpr std::array<Measured, N + M> with(const std::array<Measured, N>& rows,
                                           const std::array<Measured, M>& behind) {
    std::array<Measured, N + M> all;
    std::ranges::copy(behind, std::ranges::copy(rows, all.begin()).out);
    return all;
}

constexpr std::string_view kPsum4V6e =
    "an AllReduce of 2 GiB over 4 chips of v6e takes 19.0 ms, 84.7 GB/s over each link (a page of "
    "2026-04-15 with its scripts)";

/// Version 10: links of v6e by what four chips reach, and its matmuls fitted anew; v4p and v5p keep the ninth's mean.
constexpr auto kVersion10 =
    with(kVersion9, std::array{Measured{"v6e", "mxu", 0.644, kFittedByChip},
                               Measured{"v6e", "mxu_8bit", 0.717, kFittedByChip},
                               Measured{"v6e", "ici", 0.942, kPsum4V6e}});

/// Version 11: kernels have half of a shared HBM beside any messages, and links carry first what the step waits for sooner.
constexpr auto kVersion11 =
    with(kVersion10, std::array{Measured{"v4p", "mxu", 0.739, kFittedByChip},
                                Measured{"v5e", "mxu", 0.839, kFittedByChip},
                                Measured{"v6e", "mxu", 0.642, kFittedByChip},
                                Measured{"v6e", "mxu_8bit", 0.696, kFittedByChip},
                                Measured{"tpu7x", "mxu_8bit", 0.869, kFittedByChip},
                                Measured{"", "gather", 0.156, kPooledGather},
                                Measured{"v5e", "straggler", 0.0334, kFittedByChip}});

constexpr Overheads kFirstOverheads{1.14e-5, 7.8e-7};
// podsim calibrate scenarios/published --inference --per-chip - --pooled kernel_s,sequence_s
constexpr Overheads kOverheads7{1.02e-5, 9.3e-7};
constexpr Overheads kOverheads10{1.10e-5, 9.1e-7};
constexpr Overheads kOverheads11{1.10e-5, 9.3e-7};
// The seventh has the sixth's factors of training.
constexpr std::array kVersions{
    Version{"11", kVersion11, kOverheads11},  Version{"10", kVersion10, kOverheads10},
    Version{"9", kVersion9, kOverheads7},     Version{"8", kVersion8, kOverheads7},
    Version{"7", kVersion6, kOverheads7},     Version{"6", kVersion6, kFirstOverheads},
    Version{"5", kVersion5, kFirstOverheads}, Version{"4", kVersion4, kFirstOverheads},
    Version{"3", kVersion3, kFirstOverheads}, Version{"2", kVersion2, kFirstOverheads},
    Version{"1", kVersion1, kFirstOverheads}};

}  // namespace

std::span<const Version> measured_versions() {
    return kVersions;
}

}  // namespace podsim::topology
