#include "scenarios/src/scenario/formulas.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <vector>

#include "scenarios/src/scenario/inference_formulas.h"
#include "scenarios/src/scenario/training_step.h"
#include "sim/base/error.h"
#include "topology/lattice/hosts.h"
#include "workloads/bounds/book_formulas.h"
#include "workloads/models/model.h"
#include "workloads/program/memory_peak.h"

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

/// Describes a quantity of steps and of programs.
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

// The quantities of `expect:` that are sums over a machine, and the intensities of a program's
// matmuls: results of sections 1 and 2 of the reference text (How to Scale Your Model), before
// there is a model.
//   hosts, cores         of all slices
//   peak_flops           chips x FLOP/s of bf16 matmuls
//   memory_of_all        chips x HBM capacity, bytes
//   flops_per_usd        FLOP/s of a chip x 3600 / price of a chip-hour
//   arithmetic_intensity FLOPs of all matmuls / their HBM bytes (operands and results, once each)
//   critical_intensity   FLOP/s of the matmuls' dtype / HBM bytes/s; below it a matmul waits for
//                        its bytes

std::span<const Formula> machine_formulas() {
    return kMachineFormulas;
}

/// True if every stage is a matmul, and all are of one dtype.
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

constexpr double kSecondsPerDay = 86400;
constexpr double kCheckpoints = 4;  // for a layer, as section 6 counts them

double as_number(std::int64_t count) {
    return static_cast<double>(count);
}

double d_ff(const Scenario& scenario) {
    return as_number(scenario.step().model.d_ff);
}

double tokens(const Scenario& scenario) {
    return as_number(scenario.step().plan.batch.tokens);
}

/// Returns the parameters that formulas use: the scenario's own count, or the model's.
double parameters(const Scenario& scenario) {
    return scenario.step().report.parameters.value_or(
        as_number(workloads::count_parameters(scenario.step().model).total));
}

double sum_over_layers(const Scenario& scenario,
                       std::int64_t (*part)(const workloads::LayerParameters&)) {
    std::int64_t sum = 0;
    for (const auto& [kind, count] : workloads::layer_kinds(scenario.step().model)) {
        sum += count * part(workloads::count_layer(scenario.step().model, kind));
    }
    return as_number(sum);
}

double parameters_mlp(const Scenario& scenario) {
    return sum_over_layers(scenario, [](const workloads::LayerParameters& layer) {
        return layer.mlp + layer.experts;
    });
}

double parameters_attention(const Scenario& scenario) {
    return sum_over_layers(scenario,
                           [](const workloads::LayerParameters& layer) { return layer.attention; });
}

double parameters_vocabulary(const Scenario& scenario) {
    const workloads::ParameterCount count = workloads::count_parameters(scenario.step().model);
    return as_number(count.embedding + count.unembedding);
}

double flops_per_token(const Scenario& scenario) {
    return workloads::book_training_flops(parameters(scenario), 1).value();
}

double training_flops(const Scenario& scenario) {
    return workloads::book_training_flops(parameters(scenario), *scenario.step().report.tokens)
        .value();
}

double training_time(const Scenario& scenario) {
    return workloads::book_training_time(
               sim::Flops(training_flops(scenario)), scenario.hardware.chips(),
               scenario.hardware.chip.bf16_flops.value, *scenario.step().report.mfu)
        .value();
}

double training_days(const Scenario& scenario) {
    return training_time(scenario) / kSecondsPerDay;
}

workloads::BookMemory memory(const Scenario& scenario) {
    return workloads::book_memory(scenario.step().model, parameters(scenario), tokens(scenario),
                                  scenario.step().report.checkpoints.value_or(kCheckpoints));
}

/// Returns the bytes of checkpoints of the F-wide intermediate in place of the D-wide ones.
double memory_checkpoints_wide(const Scenario& scenario) {
    return memory(scenario).checkpoints.value() * d_ff(scenario) /
           as_number(scenario.step().model.d_model);
}

double capacity(const Scenario& scenario) {
    return scenario.hardware.chip.hbm_capacity.value.value();
}

double alpha(const Scenario& scenario) {
    return workloads::ici_intensity(
        scenario.hardware.chip.bf16_flops.value,
        scenario.hardware.chip.ici_one_way(scenario.hardware.ici_rates));
}

workloads::BookLayout layout(const Scenario& scenario) {
    return workloads::book_layout(scenario.step().mesh);
}

double tokens_per_slice(const Scenario& scenario) {
    return tokens(scenario) / scenario.hardware.slices;
}

workloads::FsdpWays compute_bound_ways(const Scenario& scenario) {
    return workloads::compute_bound_fsdp_ways(alpha(scenario), tokens_per_slice(scenario),
                                              scenario.hardware.slice.size(), layout(scenario),
                                              d_ff(scenario));
}

double chips_per_host(const Scenario& scenario) {
    const topology::Point& host = scenario.hardware.chip.host_shape.value;
    return host[0] * host[1] * host[2];
}

constexpr QuantityName formula(std::string_view name, ValueUnit unit, std::string_view example,
                               std::string_view meaning) {
    return {.name = name, .unit = unit, .meaning = meaning, .example = example, .analytic = true};
}

constexpr Formula kFormulas[] = {
    {formula("parameters", ValueUnit::count, "70.4G", "parameters of the model"),
     [](const Scenario& s) {
         return as_number(workloads::count_parameters(s.step().model).total);
     }},
    {formula("parameters_mlp", ValueUnit::count, "56.3G", "of its MLPs and experts"),
     parameters_mlp},
    {formula("parameters_attention", ValueUnit::count, "12G", "of its attention"),
     parameters_attention},
    {formula("parameters_vocabulary", ValueUnit::count, "2.1G", "of embedding and unembedding"),
     parameters_vocabulary},
    {formula("flops_per_token", ValueUnit::count, "4.2e11", "6 x parameters"), flops_per_token},
    {formula("training_flops", ValueUnit::count, "6.3e24", "that times report.tokens"),
     training_flops, kNeedsTokens},
    {formula("training_days", ValueUnit::count, "44", "that at report.mfu"), training_days,
     kNeedsTokens | kNeedsMfu},
    {formula("book_memory_parameters", ValueUnit::bytes, "140 GB",
             "of all chips: parameters, 2 B each"),
     [](const Scenario& s) { return memory(s).parameters.value(); }},
    {formula("book_memory_optimizer", ValueUnit::bytes, "560 GB", "Adam, 8 B a parameter"),
     [](const Scenario& s) { return memory(s).optimizer.value(); }},
    {formula("book_memory_checkpoints", ValueUnit::bytes, "20.9 TB",
             "four activations of width D a layer, or report.checkpoints"),
     [](const Scenario& s) { return memory(s).checkpoints.value(); }},
    {formula("book_memory_checkpoints_wide", ValueUnit::bytes, "73.4 TB", "the same of width F"),
     memory_checkpoints_wide},
    {formula("book_memory", ValueUnit::bytes, "21.6 TB", "parameters, optimizer and checkpoints"),
     [](const Scenario& s) { return memory(s).total().value(); }},
    {formula("book_memory_chips", ValueUnit::count, "225", "chips that hold it"),
     [](const Scenario& s) { return memory(s).total().value() / capacity(s); }},
    {formula("book_memory_per_chip", ValueUnit::bytes, "2.4 GB", "on the scenario's chips"),
     [](const Scenario& s) { return memory(s).total().value() / s.hardware.chips(); }},
    {formula("tokens_per_chip", ValueUnit::count, "468", "tokens / chips"),
     [](const Scenario& s) { return tokens(s) / s.hardware.chips(); }},
    {formula("tokens_per_slice", ValueUnit::count, "1.0M", "tokens / slices"), tokens_per_slice},
    {formula("least_tokens_per_chip", ValueUnit::count, "850",
             "below it FSDP or data parallelism waits for the links"),
     [](const Scenario& s) {
         return workloads::least_tokens_per_chip(alpha(s), layout(s).fsdp_axes);
     }},
    {formula("most_tensor_ways", ValueUnit::count, "11",
             "above it tensor parallelism waits for the links"),
     [](const Scenario& s) {
         return workloads::most_tensor_ways(alpha(s), layout(s).tensor_axes, d_ff(s));
     },
     kNeedsTensor},
    {formula("least_tokens_per_chip_mixed", ValueUnit::count, "400",
             "below it FSDP with tensor parallelism waits, one after the other"),
     [](const Scenario& s) {
         return workloads::least_tokens_per_chip_mixed(alpha(s), layout(s), d_ff(s));
     },
     kNeedsTensor},
    {formula("least_tokens_per_chip_concurrent", ValueUnit::count, "113",
             "below it they wait, both at once"),
     [](const Scenario& s) {
         return workloads::least_tokens_per_chip_concurrent(alpha(s), layout(s), d_ff(s));
     },
     kNeedsTensor},
    {formula("optimal_fsdp_ways", ValueUnit::count, "1618", "FSDP ways with least communication"),
     [](const Scenario& s) {
         return workloads::optimal_fsdp_ways(tokens_per_slice(s), s.hardware.slice.size(),
                                             layout(s), d_ff(s));
     },
     kNeedsTensor},
    {formula("least_fsdp_ways", ValueUnit::count, "1359",
             "FSDP ways, with tensor parallelism over the rest, below which they wait"),
     [](const Scenario& s) { return compute_bound_ways(s).least; },
     kNeedsTensor | kNeedsComputeBound},
    {formula("most_fsdp_ways", ValueUnit::count, "1927", "above which they wait"),
     [](const Scenario& s) { return compute_bound_ways(s).most; },
     kNeedsTensor | kNeedsComputeBound},
    {formula("communication_to_compute", ValueUnit::count, "0.98",
             "communication / matmuls of a block; above 1 it is communication-bound"),
     [](const Scenario& s) {
         return workloads::communication_to_compute(alpha(s), tokens_per_slice(s), layout(s),
                                                    d_ff(s));
     },
     kNeedsOneTensor},
    {formula("least_tokens_per_slice", ValueUnit::count, "73.4k",
             "below it data parallelism over slices waits for the data-centre network"),
     [](const Scenario& s) {
         return workloads::least_tokens_per_slice(s.hardware.chip.bf16_flops.value,
                                                  static_cast<int>(chips_per_host(s)),
                                                  s.hardware.chip.dcn_per_host.value);
     },
     kNeedsSlices},
};

}  // namespace

std::span<const Formula> all_formulas() {
    static const std::vector<Formula> all = [] {
        std::vector<Formula> both(std::begin(kFormulas), std::end(kFormulas));
        for (const auto& more : {inference_formulas(), machine_formulas()}) {
            both.insert(both.end(), more.begin(), more.end());
        }
        return both;
    }();
    return all;
}

const Formula* find_formula(std::string_view quantity) {
    const std::span<const Formula> all = all_formulas();
    const auto found = std::ranges::find(
        all, quantity, [](const Formula& formula) { return formula.quantity.name; });
    return found == all.end() ? nullptr : &*found;
}

void check_formula(const Formula& formula, const Scenario& scenario) {
    const auto need = [&](unsigned bit, bool there, std::string problem, std::string remedy) {
        if ((formula.needs & bit) != 0 && !there) {
            throw sim::InputError(std::move(problem), std::move(remedy));
        }
    };
    need(kNeedsMatmuls, is_of_matmuls(scenario),
         "the scenario is no program of matmuls of one dtype",
         "write program: {stages: [{do: matmul, ...}]}");
    if (scenario.is_program()) {
        return;
    }
    need(kNeedsTokens, scenario.step().report.tokens.has_value(),
         "the scenario has no token budget", "write report.tokens, such as 15T");
    need(kNeedsMfu, scenario.step().report.mfu.has_value(), "the scenario states no MFU",
         "write report.mfu, such as 40 %");
    need(kNeedsTensor, scenario.step().plan.ways.tensor > 1, "the mesh has no tensor parallelism",
         "write mesh.tensor");
    need(kNeedsTensor | kNeedsOneTensor, scenario.step().plan.ways.tensor_transpose == 1,
         "the text has no such formula for tensor parallelism over d_model too",
         "leave out mesh.tensor_transpose");
    need(kNeedsComputeBound,
         (formula.needs & kNeedsComputeBound) != 0 && compute_bound_ways(scenario).most > 0,
         "no ways of FSDP keep this batch compute-bound", "write more batch.tokens");
    need(kNeedsInference, scenario.step().plan.inference.has_value(),
         "the scenario is no step of inference", "write inference: {step: decode, ...}");
    need(kNeedsPrice, scenario.step().report.usd_per_chip_hour.has_value(),
         "the scenario has no price", "write report.price, such as 4.20 USD/chip-hour");
    need(kNeedsOutput, scenario.step().report.output_tokens.has_value(),
         "the scenario does not say how many tokens answer a query",
         "write report.output_tokens, such as 512");
    need(kNeedsSlices, scenario.hardware.slices > 1, "there is a single slice",
         "write hardware.slices");
}

}  // namespace podsim::scenarios
