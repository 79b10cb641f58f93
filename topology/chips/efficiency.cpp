#include "topology/chips/efficiency.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "topology/chips/measured_versions.h"

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

constexpr double kHost =
    1e-3;  // a prior: most engines hide it, and no row tells apart what others take

const Version* find_version(std::string_view name) {
    const std::span<const Version> all = measured_versions();
    const auto found = std::ranges::find(all, name, &Version::name);
    return found == all.end() ? nullptr : &*found;
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
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> all;
        std::ranges::transform(measured_versions(), std::back_inserter(all), &Version::name);
        return all;
    }();
    return names;
}

std::optional<Efficiency> measured_efficiency(std::string_view chip) {
    return measured_efficiency(chip, measured_versions().front().name);
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
    const Overheads& overheads =
        (named == nullptr ? measured_versions().front() : *named).inference;
    efficiency.kernel_s = overheads.kernel_s;
    efficiency.sequence_s = overheads.sequence_s;
    efficiency.host_s = kHost;
    return efficiency;
}

std::string_view efficiency_source(std::string_view chip, std::string_view factor) {
    const Measured* const row = row_of(measured_versions().front().rows, chip, factor);
    return row == nullptr ? "not measured: as in profile ideal" : row->source;
}

}  // namespace podsim::topology
