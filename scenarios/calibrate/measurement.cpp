#include "scenarios/calibrate/measurement.h"

#include <filesystem>

#include "scenarios/spec/training_step.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr double kTraining = 6;
constexpr double kForward = 2;

double peak_of(const topology::ChipSpec& chip, workloads::MatmulDtype dtype) {
    using workloads::MatmulDtype;
    return (dtype == MatmulDtype::bf16   ? chip.bf16_flops
            : dtype == MatmulDtype::int8 ? chip.int8_ops
                                         : chip.fp8_flops)
        .value.value();
}

void add_step(const Scenario& scenario, Measurement& measurement) {
    const TrainingStep& step = scenario.step();
    const auto parameters = static_cast<double>(workloads::count_parameters(step.model).active);
    const auto tokens = static_cast<double>(step.plan.batch.tokens);
    double work = (step.plan.forward_only ? kForward : kTraining) * parameters * tokens;
    if (step.evaluation.has_value()) {
        work =
            step.evaluation->train_steps * work + step.evaluation->steps * kForward * parameters *
                                                      static_cast<double>(step.evaluation->tokens);
    }
    measurement.is_step = true;
    measurement.kind = kind_of(scenario);
    measurement.six_nd = work / scenario.hardware.chips();
    measurement.bf16_peak = scenario.hardware.chip.bf16_flops.value.value();
    measurement.matmul_peak = peak_of(scenario.hardware.chip, step.plan.precision.matmul);
}

}  // namespace

std::vector<Measurement> measurements_of(std::span<const Scenario> scenarios) {
    std::vector<Measurement> measurements;
    for (const Scenario& scenario : scenarios) {
        if (scenario.expectations.size() != 1 ||
            !scenario.expectations.front().quantity.ends_with("time")) {
            throw sim::InputError("a measurement is a scenario that expects one time",
                                  "write expect: {step_time: {of: 3.4 s, within: 20 %}}",
                                  {scenario.file, 0, 0});
        }
        Measurement measurement{
            .number = measurements.size(),
            .scenario = &scenario,
            .chip = scenario.hardware.chip.name,
            .family = std::filesystem::path(scenario.file).parent_path().filename().string(),
            .defines = scenario.expectations.front().defines,
            .measured_s = scenario.expectations.front().of,
            .kind = {}};
        if (!scenario.is_program()) {
            add_step(scenario, measurement);
        }
        measurements.push_back(std::move(measurement));
    }
    return measurements;
}

}  // namespace podsim::scenarios
