#include "topology/chips/efficiency.h"

#include <algorithm>
#include <array>

namespace podsim::topology {
namespace {

constexpr std::array kFactors{
    EfficiencyFactor{"mxu", &Efficiency::mxu, 0.05, 1},
    EfficiencyFactor{"mxu_ramp", &Efficiency::mxu_ramp, 0, 4096},
    EfficiencyFactor{"mxu_8bit", &Efficiency::mxu_8bit, 0.05, 1},
    EfficiencyFactor{"mxu_grouped", &Efficiency::mxu_grouped, 0, 1},
    EfficiencyFactor{"grid_step_s", &Efficiency::grid_step_s, 0, 1e-3},
    EfficiencyFactor{"attention", &Efficiency::attention, 0.05, 1},
    EfficiencyFactor{"attention_backward", &Efficiency::attention_backward, 0, 1},
    EfficiencyFactor{"vpu", &Efficiency::vpu, 0.05, 1},
    EfficiencyFactor{"hbm", &Efficiency::hbm, 0.05, 1},
    EfficiencyFactor{"fusion", &Efficiency::fusion, 0, 1},
    EfficiencyFactor{"gather", &Efficiency::gather, 0.02, 1},
    EfficiencyFactor{"ici", &Efficiency::ici, 0.05, 1},
    EfficiencyFactor{"dcn", &Efficiency::dcn, 0.02, 1},
    EfficiencyFactor{"launch_s", &Efficiency::launch_s, 0, 1e-3},
    EfficiencyFactor{"straggler", &Efficiency::straggler, 0, 1},
    EfficiencyFactor{"kernel_s", &Efficiency::kernel_s, 0, 1e-3},
    EfficiencyFactor{"sequence_s", &Efficiency::sequence_s, 0, 1e-3},
    EfficiencyFactor{"host_s", &Efficiency::host_s, 0, 1},
};

/// A factor of the profile `measured`, of one chip or of every measured one that has no row of its own.
struct Measured {
    std::string_view chip;  ///< empty: of all
    std::string_view factor;
    double value;
    std::string_view source;
};

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

/// What inference takes besides, for all chips.
struct Overheads {
    double kernel_s;
    double sequence_s;
};
constexpr Overheads kFirstOverheads{1.14e-5, 7.8e-7};
// podsim calibrate scenarios/published --inference --per-chip - --pooled kernel_s,sequence_s
constexpr Overheads kOverheads7{1.02e-5, 9.3e-7};
constexpr double kHost =
    1e-3;  // a prior: most engines hide it, and no row tells apart what others take

struct Version {
    std::string_view name;
    std::span<const Measured> rows;
    Overheads inference = kFirstOverheads;
};
// The seventh has the sixth's factors of training.
constexpr std::array kVersions{Version{"9", kVersion9, kOverheads7},
                               Version{"8", kVersion8, kOverheads7},
                               Version{"7", kVersion6, kOverheads7},
                               Version{"6", kVersion6},
                               Version{"5", kVersion5},
                               Version{"4", kVersion4},
                               Version{"3", kVersion3},
                               Version{"2", kVersion2},
                               Version{"1", kVersion1}};
constexpr std::array kVersionNames{kVersions[0].name, kVersions[1].name, kVersions[2].name,
                                   kVersions[3].name, kVersions[4].name, kVersions[5].name,
                                   kVersions[6].name, kVersions[7].name, kVersions[8].name};

const Version* find_version(std::string_view name) {
    const auto* const found = std::ranges::find(kVersions, name, &Version::name);
    return found == kVersions.end() ? nullptr : found;
}

/// The row of a factor: the chip's own, or that of all.
const Measured* row_of(std::span<const Measured> rows, std::string_view chip,
                       std::string_view factor) {
    const Measured* found = nullptr;
    for (const Measured& row : rows) {
        if (row.factor == factor && (row.chip == chip || (row.chip.empty() && found == nullptr))) {
            found = &row;
        }
    }
    return found;
}

}  // namespace

std::span<const EfficiencyFactor> efficiency_factors() {
    return kFactors;
}

std::span<const std::string_view> profile_versions() {
    return kVersionNames;
}

std::optional<Efficiency> measured_efficiency(std::string_view chip) {
    return measured_efficiency(chip, kVersions.front().name);
}

std::optional<Efficiency> measured_efficiency(std::string_view chip, std::string_view version) {
    const Version* const named = find_version(version);
    if (named == nullptr ||
        std::ranges::find(named->rows, chip, &Measured::chip) == named->rows.end()) {
        return std::nullopt;
    }
    Efficiency efficiency;
    for (const EfficiencyFactor& factor : kFactors) {
        if (const Measured* const row = row_of(named->rows, chip, factor.name)) {
            efficiency.*(factor.value) = row->value;
        }
    }
    return efficiency;
}

Efficiency with_inference_overheads(Efficiency efficiency, std::string_view version) {
    const Version* const named = find_version(version);
    const Overheads& overheads = (named == nullptr ? kVersions.front() : *named).inference;
    efficiency.kernel_s = overheads.kernel_s;
    efficiency.sequence_s = overheads.sequence_s;
    efficiency.host_s = kHost;
    return efficiency;
}

std::string_view efficiency_source(std::string_view chip, std::string_view factor) {
    const Measured* const row = row_of(kVersions.front().rows, chip, factor);
    return row == nullptr ? "not measured: as in profile ideal" : row->source;
}

}  // namespace podsim::topology
