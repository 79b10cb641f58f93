#include "scenarios/src/study/measurement.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "scenarios/src/scenario/arrivals.h"
#include "scenarios/src/scenario/formulas.h"
#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/scenario/training_step.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr double kTraining = 6;
constexpr double kForward = 2;
constexpr double kUnstated = 3;

double peak_of(const topology::ChipSpec& chip, workloads::MatmulDtype dtype) {
    using workloads::MatmulDtype;
    return (dtype == MatmulDtype::bf16   ? chip.bf16_flops
            : dtype == MatmulDtype::int8 ? chip.int8_ops
                                         : chip.fp8_flops)
        .value.value();
}

double training_work(const TrainingStep& step) {
    const auto parameters = static_cast<double>(workloads::count_parameters(step.model).active);
    const auto tokens = static_cast<double>(step.plan.batch.tokens);
    const double work = (step.plan.forward_only ? kForward : kTraining) * parameters * tokens;
    return step.evaluation.has_value() ? step.evaluation->train_steps * work +
                                             step.evaluation->steps * kForward * parameters *
                                                 static_cast<double>(step.evaluation->tokens)
                                       : work;
}

/// Returns the seconds of the reference text's step.
double book_step(const Scenario& scenario) {
    return static_cast<double>(scenario.step().plan.inference->counted_tokens()) /
           find_formula("book_tokens_per_s")->value(scenario);
}

/// Returns the same. For a serving run it is the decode step of all its sequences half-way through
/// their answers.
double paper_time(const Scenario& scenario) {
    if (scenario.serving == nullptr) {
        return book_step(scenario);
    }
    const ServingSpec& spec = *scenario.serving;
    const std::int64_t sequences = spec.load.arrivals == ArrivalKind::concurrency
                                       ? std::min(spec.batching.slots, spec.load.concurrency)
                                       : spec.batching.slots;
    double prompt = 0;
    double output = 0;
    const std::vector<Request> requests = draw_requests(spec.load);
    for (const Request& request : requests) {
        prompt += static_cast<double>(request.prompt);
        output += static_cast<double>(request.output);
    }
    const double context = (prompt + output / 2) / static_cast<double>(requests.size());
    Scenario decode = scenario;
    decode.step().plan.inference->runs = {{sequences, 1, std::llround(context), 1}};
    return book_step(decode);
}

void add_step(const Scenario& scenario, Measurement& measurement) {
    const TrainingStep& step = scenario.step();
    measurement.what = Measured::step;
    measurement.kind = kind_of(scenario);
    measurement.d_model = step.model.d_model;
    measurement.bf16_peak = scenario.hardware.chip.bf16_flops.value.value();
    if (step.plan.inference) {
        measurement.work = paper_time(scenario) * measurement.bf16_peak;
        measurement.matmul_peak = measurement.bf16_peak;
        return;
    }
    measurement.work = training_work(step) / scenario.hardware.chips();
    measurement.matmul_peak = peak_of(scenario.hardware.chip, step.plan.precision.matmul);
}

/// True if the scenario has one quantity, to which factors can be fitted.
bool is_measurement(const Scenario& scenario) {
    if (scenario.expectations.size() != 1) {
        return false;
    }
    const ValueUnit unit = find_quantity(scenario.expectations.front().quantity).unit;
    return unit == ValueUnit::time ||
           (scenario.serving != nullptr && unit == ValueUnit::token_rate);
}

}  // namespace

std::vector<Measurement> measurements_of(std::span<const Scenario> scenarios, bool inference) {
    std::vector<Measurement> measurements;
    for (const Scenario& scenario : scenarios) {
        if (!is_measurement(scenario)) {
            throw sim::InputError("a measurement is a scenario that expects one time",
                                  "write expect: {step_time: {of: 3.4 s, within: 20 %}}",
                                  {scenario.file, 0, 0});
        }
        const bool program = scenario.is_program();
        if (!program && scenario.step().plan.inference.has_value() != inference) {
            continue;
        }
        const Expectation& expected = scenario.expectations.front();
        Measurement measurement{
            .number = measurements.size(),
            .scenario = &scenario,
            .chip = scenario.hardware.catalogue_name(),
            .family = std::filesystem::path(scenario.file).parent_path().filename().string(),
            .defines = expected.defines,
            .measured_s = expected.of,
            .noise = inference && !program && expected.tier == "B" ? kUnstated : 1,
            .kind = {}};
        if (!program) {
            add_step(scenario, measurement);
        }
        if (find_quantity(expected.quantity).unit == ValueUnit::token_rate) {
            measurement.what = Measured::throughput;
            measurement.measured_s = 1 / expected.of;
        }
        measurements.push_back(std::move(measurement));
    }
    return measurements;
}

}  // namespace podsim::scenarios
