#include "topology/chips/efficiency.h"

#include <algorithm>
#include <array>

namespace podsim::topology {
namespace {

constexpr std::array kFactors{
    EfficiencyFactor{"mxu", &Efficiency::mxu, 0.05, 1},
    EfficiencyFactor{"mxu_ramp", &Efficiency::mxu_ramp, 0, 4096},
    EfficiencyFactor{"attention", &Efficiency::attention, 0.05, 1},
    EfficiencyFactor{"vpu", &Efficiency::vpu, 0.05, 1},
    EfficiencyFactor{"hbm", &Efficiency::hbm, 0.05, 1},
    EfficiencyFactor{"fusion", &Efficiency::fusion, 0, 1},
    EfficiencyFactor{"ici", &Efficiency::ici, 0.05, 1},
    EfficiencyFactor{"dcn", &Efficiency::dcn, 0.02, 1},
    EfficiencyFactor{"launch_s", &Efficiency::launch_s, 0, 1e-3},
    EfficiencyFactor{"straggler", &Efficiency::straggler, 0, 1},
};

/// A factor of the profile `measured`, of one chip or of every measured one.
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

constexpr std::array kMeasured{
    Measured{"v4p", "mxu", 0.758, kFitted},
    Measured{"v5e", "mxu", 0.793, kFitted},
    Measured{"v5p", "mxu", 0.808, kFitted},
    Measured{"v6e", "mxu", 0.804, kFitted},
    Measured{"", "attention", 0.421, kPooled},
    Measured{"", "fusion", 0, kPooled},
    Measured{"", "straggler", 0.0299, kPooled},
    Measured{
        "", "hbm", 0.83,
        "a copy of 33.55 MB on v6e reaches 1359.6 of 1638 GB/s (tpu-recipes, microbenchmarks)"},
    Measured{"", "ici", 0.82,
             "an AllGather of 33.6 MB over 4 chips of v5e in a line takes 680 us, 560 us at the "
             "book's rate (How to "
             "Scale Your Model, section 3)"},
    Measured{"", "launch_s", 2.3e-6,
             "an AllGather of 131 kB over the same chips takes about 8 us, three hops of 1 us and "
             "2.7 us of bytes (How "
             "to Scale Your "
             "Model, section 3)"},
};

bool is_of(const Measured& measured, std::string_view chip) {
    return measured.chip == chip || measured.chip.empty();
}

}  // namespace

std::span<const EfficiencyFactor> efficiency_factors() {
    return kFactors;
}

std::optional<Efficiency> measured_efficiency(std::string_view chip) {
    if (std::ranges::find(kMeasured, chip, &Measured::chip) == kMeasured.end()) {
        return std::nullopt;
    }
    Efficiency efficiency;
    for (const Measured& measured : kMeasured) {
        if (is_of(measured, chip)) {
            const auto* const factor =
                std::ranges::find(kFactors, measured.factor, &EfficiencyFactor::name);
            efficiency.*(factor->value) = measured.value;
        }
    }
    return efficiency;
}

std::string_view efficiency_source(std::string_view chip, std::string_view factor) {
    for (const Measured& measured : kMeasured) {
        if (is_of(measured, chip) && measured.factor == factor) {
            return measured.source;
        }
    }
    return "not measured: as in profile ideal";
}

}  // namespace podsim::topology
