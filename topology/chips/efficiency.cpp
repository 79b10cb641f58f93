#include "topology/chips/efficiency.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "topology/chips/chip_table.h"

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

/// Returns the row of a name; nullptr if there is none.
const MeasuredFactor* row_in(const std::vector<MeasuredFactor>& rows, std::string_view name) {
    const auto found = std::ranges::find(rows, name, &MeasuredFactor::name);
    return found == rows.end() ? nullptr : &*found;
}

/// Returns the factors of a chip's own; empty if it was not measured or is not of the catalogue.
const std::vector<MeasuredFactor>& measured_rows(std::string_view chip) {
    static const std::vector<MeasuredFactor> none;
    const auto found = std::ranges::find(chip_table(), chip, &ChipSpec::name);
    return found == chip_table().end() ? none : found->measured;
}

/// Returns the row of a factor: the chip's own, or that of all chips.
const MeasuredFactor* row_of(const std::vector<MeasuredFactor>& own, std::string_view factor) {
    const MeasuredFactor* const row = row_in(own, factor);
    return row != nullptr ? row : row_in(pooled_factors(), factor);
}

}  // namespace

std::span<const EfficiencyFactor> efficiency_factors() {
    return kFactors;
}

std::optional<Efficiency> measured_efficiency(std::string_view chip) {
    const std::vector<MeasuredFactor>& own = measured_rows(chip);
    if (own.empty()) {
        return std::nullopt;
    }
    Efficiency efficiency;
    for (const EfficiencyFactor& factor : kFactors) {
        if (const MeasuredFactor* const row = row_of(own, factor.name)) {
            efficiency.*(factor.value) = row->value;
        }
    }
    return efficiency;
}

Efficiency with_inference_overheads(Efficiency efficiency) {
    for (const EfficiencyFactor& factor : kFactors) {
        if (const MeasuredFactor* const row = row_in(inference_factors(), factor.name)) {
            efficiency.*(factor.value) = row->value;
        }
    }
    return efficiency;
}

std::string_view efficiency_source(std::string_view chip, std::string_view factor) {
    const MeasuredFactor* const row = row_of(measured_rows(chip), factor);
    if (row == nullptr) {
        return "not measured: as in profile ideal";
    }
    return row->source;
}

}  // namespace podsim::topology
