#include "scenarios/spec/machine_formulas.h"

#include <algorithm>

#include "scenarios/spec/training_step.h"
#include "topology/lattice/hosts.h"

namespace podsim::scenarios {
namespace {

constexpr double kSecondsPerPricedHour = 3600;

double hosts(const Scenario& scenario) {
    const Hardware& hardware = scenario.hardware;
    return topology::Hosts(hardware.slice, hardware.chip.host_shape.value).count() *
           hardware.slices;
}

double bf16_flops(const Scenario& scenario) {
    return scenario.hardware.chip.bf16_flops.value.value();
}

const workloads::Compute& matmul_of(const Stage& stage) {
    return std::get<StageCompute>(stage.work).work;
}

double arithmetic_intensity(const Scenario& scenario) {
    sim::Flops flops;
    sim::Bytes bytes;
    for (const Stage& stage : scenario.program().stages) {
        flops += matmul_of(stage).flops;
        bytes += matmul_of(stage).hbm;
    }
    return flops.value() / bytes.value();
}

double critical_intensity(const Scenario& scenario) {
    const topology::ChipSpec& chip = scenario.hardware.chip;
    const workloads::MatmulDtype dtype = matmul_of(scenario.program().stages.front()).dtype;
    const sim::FlopsPerSecond peak = dtype == workloads::MatmulDtype::bf16   ? chip.bf16_flops.value
                                     : dtype == workloads::MatmulDtype::int8 ? chip.int8_ops.value
                                                                             : chip.fp8_flops.value;
    return peak.value() / chip.hbm_bandwidth.value.value();
}

/// Of steps and of programs.
constexpr QuantityName of_any(std::string_view name, ValueUnit unit, std::string_view example,
                              std::string_view meaning) {
    return {.name = name,
            .unit = unit,
            .meaning = meaning,
            .example = example,
            .analytic = true,
            .of_programs = true};
}

constexpr Formula kMachineFormulas[] = {
    {of_any("hosts", ValueUnit::count, "2240", "hosts of all slices"), hosts},
    {of_any("cores", ValueUnit::count, "17920", "TensorCores of all chips"),
     [](const Scenario& s) {
         return static_cast<double>(s.hardware.chips()) * s.hardware.chip.cores.value;
     }},
    {of_any("peak_flops", ValueUnit::count, "4.11e18", "bf16 FLOP/s of all chips"),
     [](const Scenario& s) { return s.hardware.chips() * bf16_flops(s); }},
    {of_any("memory_of_all", ValueUnit::bytes, "860 TB", "HBM of all chips"),
     [](const Scenario& s) {
         return s.hardware.chips() * s.hardware.chip.hbm_capacity.value.value();
     }},
    {of_any("arithmetic_intensity", ValueUnit::count, "240",
            "FLOPs of a program's matmuls for each byte that they move"),
     arithmetic_intensity, kNeedsMatmuls},
    {of_any("critical_intensity", ValueUnit::count, "240",
            "FLOP/s of their dtype for each byte/s of HBM: below it they wait for bytes"),
     critical_intensity, kNeedsMatmuls},
    {{.name = "flops_per_usd",
      .unit = ValueUnit::count,
      .meaning = "bf16 FLOPs that a US dollar of report.price buys at the peak",
      .example = "5.9e17",
      .analytic = true},
     [](const Scenario& s) {
         return bf16_flops(s) * kSecondsPerPricedHour / *s.step().report.usd_per_chip_hour;
     },
     kNeedsPrice},
};

}  // namespace

std::span<const Formula> machine_formulas() {
    return kMachineFormulas;
}

bool is_of_matmuls(const Scenario& scenario) {
    if (!scenario.is_program()) {
        return false;
    }
    const std::vector<Stage>& stages = scenario.program().stages;
    const auto is_matmul = [](const Stage& stage) {
        const auto* const compute = std::get_if<StageCompute>(&stage.work);
        return compute != nullptr && !compute->work.matmuls.empty();
    };
    return std::ranges::all_of(stages, is_matmul) &&
           std::ranges::all_of(stages, [&](const Stage& stage) {
               return matmul_of(stage).dtype == matmul_of(stages.front()).dtype;
           });
}

}  // namespace podsim::scenarios
