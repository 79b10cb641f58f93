#include "scenarios/src/scenario/inference_formulas.h"

#include <algorithm>
#include <cmath>

#include "scenarios/src/scenario/training_step.h"
#include "workloads/bounds/book_formulas.h"
#include "workloads/bounds/book_inference.h"
#include "workloads/models/kv_cache.h"

namespace podsim::scenarios {
namespace {

using workloads::BookInference;
using workloads::MachineRates;

BookInference book_of(const Scenario& scenario, const workloads::TrainingPlan& plan) {
    const topology::ChipSpec& chip = scenario.hardware.chip;
    MachineRates rates{.flops = chip.bf16_flops.value,
                       .hbm = chip.hbm_bandwidth.value,
                       .ici_one_way = chip.ici_one_way(scenario.hardware.ici_rates)};
    rates.int8 = chip.int8_ops.value;
    rates.fp8 = chip.fp8_flops.value;
    return workloads::book_inference(scenario.step().model, plan, scenario.hardware.chips(), rates,
                                     scenario.step().report.parameters.value_or(0));
}

BookInference book(const Scenario& scenario) {
    return book_of(scenario, scenario.step().plan);
}

const workloads::Inference& inference(const Scenario& scenario) {
    return *scenario.step().plan.inference;
}

/// Returns the step that the formulas of one step describe; for generation, the first decode step.
workloads::Inference one_step(const Scenario& scenario) {
    workloads::Inference steps = inference(scenario);
    steps.generate = std::min<std::int64_t>(steps.generate, 2);
    return workloads::steps_of(steps).back();
}

double tokens_of_a_step(const Scenario& scenario) {
    return static_cast<double>(one_step(scenario).tokens());
}

double load_parameters(const Scenario& scenario) {
    workloads::TrainingPlan plan = scenario.step().plan;
    plan.inference = one_step(scenario);
    return book_of(scenario, plan).weights.value();
}

double sequences(const Scenario& scenario) {
    return static_cast<double>(inference(scenario).sequences());
}

double capacity_of_chip(const Scenario& scenario) {
    return scenario.hardware.chip.hbm_capacity.value.value();
}

/// Returns the memory of all chips without the parameters.
double left(const Scenario& scenario) {
    return capacity_of_chip(scenario) * scenario.hardware.chips() -
           book(scenario).parameters.value();
}

/// Returns the bytes of all sequences' caches.
double all_caches(const Scenario& scenario) {
    return sequences(scenario) * book(scenario).of_sequence.value();
}

/// Returns the bandwidth of HBM over that of ICI, both directions together.
double beta(const Scenario& scenario) {
    const topology::ChipSpec& chip = scenario.hardware.chip;
    return chip.hbm_bandwidth.value.value() /
           (2 * chip.ici_one_way(scenario.hardware.ici_rates).value());
}

/// Returns the chips above which section 7's 2-D sharding, at its best X, moves less than 1-D over
/// 3 axes; F = 4 D gives 128 (3 / 4)^2 = 72.
double least_chips_of_2d(const Scenario& scenario) {
    const workloads::ModelSpec& model = scenario.step().model;
    const double wide = static_cast<double>(model.d_ff) / static_cast<double>(model.d_model);
    constexpr double kAxes = 3;
    const double one_axis = 4 / kAxes;  // in B D / W: the AllGather and ReduceScatter of 1-D
    const double root =
        2 * std::sqrt(2 * 4 * wide);  // the minimum of the sum 2 B D / X + 4 B F / (Y Z)
    return root * root / (one_axis * one_axis);
}

/// Returns G, the number of query heads that multiply each element of a cached key or value. For
/// latent attention it depends on the form that the run takes (kv_cache.h). With the up projections
/// absorbed, N heads multiply the R + Rr columns of a latent vector and its rope as keys and R of
/// them as values: N (2 R + Rr) / (R + Rr). Complete keys and values belong to one head each.
double heads_that_share(const Scenario& scenario, const workloads::CachedRun& run) {
    const workloads::ModelSpec& model = scenario.step().model;
    const auto heads = static_cast<double>(model.heads);
    if (model.latent.kv_rank == 0) {
        return heads / static_cast<double>(model.kv_heads);
    }
    const auto fresh = static_cast<double>(run.fresh);
    const workloads::CachedWidths widths = workloads::cached_widths(
        static_cast<double>(model.head_dim), static_cast<double>(model.latent.value_dim),
        static_cast<double>(model.latent.kv_rank), static_cast<double>(model.latent.rope_dim),
        workloads::cached_scores(fresh, static_cast<double>(run.cached), 0), fresh,
        scenario.step().plan.ways.cache == 1);
    return widths.latent ? heads * (widths.key + widths.value) / widths.key : 1;
}

/// Returns S T G / (S + T G) for the first run, whose T new tokens see S.
double attention_intensity(const Scenario& scenario) {
    const workloads::CachedRun run = one_step(scenario).runs.front();
    const auto keys = static_cast<double>(run.cached + run.fresh);
    const double rows = static_cast<double>(run.fresh) * heads_that_share(scenario, run);
    return keys * rows / (keys + rows);
}

/// Returns the bytes of new tokens x D.
double activation_bytes(const Scenario& scenario) {
    return tokens_of_a_step(scenario) * static_cast<double>(scenario.step().model.d_model) *
           scenario.step().plan.precision.compute;
}

/// Returns the bytes that a link carries within the latency of a hop.
double bytes_in_flight(const Scenario& scenario) {
    const topology::ChipSpec& chip = scenario.hardware.chip;
    return chip.ici_one_way(scenario.hardware.ici_rates).value() * chip.ici_latency.value.value();
}

double active_parameters(const Scenario& scenario) {
    const workloads::ParameterCount count = workloads::count_parameters(scenario.step().model);
    return scenario.step().report.parameters.value_or(static_cast<double>(count.total)) *
           static_cast<double>(count.active) / static_cast<double>(count.total);
}

/// Returns the time to prefill all prompts at report.mfu.
double prefill_time(const Scenario& scenario) {
    return 2 * active_parameters(scenario) * static_cast<double>(inference(scenario).tokens()) /
           (scenario.hardware.chips() * scenario.hardware.chip.bf16_flops.value.value() *
            *scenario.step().report.mfu);
}

double generated(const Scenario& scenario) {
    return *scenario.step().report.output_tokens;
}

double full_memory_step(const Scenario& scenario) {
    return capacity_of_chip(scenario) / scenario.hardware.chip.hbm_bandwidth.value.value();
}

double largest(const Scenario& scenario) {
    return std::floor(left(scenario) / book(scenario).of_sequence.value());
}

constexpr QuantityName of_text(std::string_view name, ValueUnit unit, std::string_view example,
                               std::string_view meaning) {
    return {.name = name, .unit = unit, .meaning = meaning, .example = example, .analytic = true};
}

constexpr Formula kInferenceFormulas[] = {
    {of_text("parameter_bytes", ValueUnit::bytes, "70 GB", "parameters as stored"),
     [](const Scenario& s) { return book(s).parameters.value(); }, kNeedsInference},
    {of_text("kv_bytes_per_token", ValueUnit::bytes, "163.8 kB",
             "cache of a token, all layers and heads"),
     [](const Scenario& s) { return book(s).of_token.value(); }, kNeedsInference},
    {of_text("kv_bytes_per_sequence", ValueUnit::bytes, "1.34 GB",
             "cache of a sequence at the end of the step, or as reserved"),
     [](const Scenario& s) { return book(s).of_sequence.value(); }, kNeedsInference},
    {of_text("kv_bytes", ValueUnit::bytes, "42.9 GB", "cache of all sequences"), all_caches,
     kNeedsInference},
    {of_text("book_least_step", ValueUnit::time, "17.3 ms",
             "cache and parameters read once, by all chips; of generation once in every step"),
     [](const Scenario& s) { return book(s).least.value(); }, kNeedsInference},
    {of_text("book_tokens_per_s", ValueUnit::token_rate, "12.2k",
             "tokens that tokens_per_s counts / the step of `book`"),
     [](const Scenario& s) {
         return static_cast<double>(inference(s).counted_tokens()) / book(s).step.value();
     },
     kNeedsInference},
    {of_text("book_load_parameters", ValueUnit::time, "1.4 ms",
             "parameters read once; of experts those that a step's tokens meet"),
     load_parameters, kNeedsInference},
    {of_text("critical_batch", ValueUnit::count, "240",
             "tokens of a step above which matmuls take longer than loading their weights"),
     [](const Scenario& s) { return book(s).critical_batch; }, kNeedsInference},
    {of_text("largest_batch", ValueUnit::count, "43",
             "sequences whose caches fit beside the parameters, all chips' memory taken together"),
     largest, kNeedsInference},
    {of_text("cached_tokens", ValueUnit::count, "906k", "tokens whose caches fit there"),
     [](const Scenario& s) { return left(s) / book(s).of_token.value(); }, kNeedsInference},
    {of_text("left_for_caches", ValueUnit::bytes, "58 GB", "memory that parameters leave"), left,
     kNeedsInference},
    {of_text("least_chips_of_parameters", ValueUnit::count, "4.4",
             "chips that hold the parameters"),
     [](const Scenario& s) { return book(s).parameters.value() / capacity_of_chip(s); },
     kNeedsInference},
    {of_text("least_chips", ValueUnit::count, "7", "chips that hold parameters and all caches"),
     [](const Scenario& s) {
         return (book(s).parameters.value() + all_caches(s)) / capacity_of_chip(s);
     },
     kNeedsInference},
    {of_text("full_memory_step", ValueUnit::time, "19.5 ms", "a chip's whole memory read once"),
     full_memory_step, kNeedsInference},
    {of_text("most_model_ways", ValueUnit::count, "57",
             "F / (B beta), B tokens of a step, of generation of a decode step: above it tensor "
             "parallelism waits for the links, not the HBM"),
     [](const Scenario& s) {
         return static_cast<double>(s.step().model.d_ff) / (tokens_of_a_step(s) * beta(s));
     },
     kNeedsInference},
    {of_text("least_chips_of_2d", ValueUnit::count, "72",
             "chips above which 2-D weight-stationary sharding moves less than 1-D over 3 axes"),
     least_chips_of_2d, kNeedsInference},
    {of_text("parameters_active", ValueUnit::count, "31.3G", "parameters that a token takes"),
     active_parameters, kNeedsInference},
    {of_text("forward_flops_per_token", ValueUnit::count, "6.3e10", "2 x those"),
     [](const Scenario& s) { return 2 * active_parameters(s); }, kNeedsInference},
    {of_text("book_flops_time", ValueUnit::time, "4.1 ms", "2 x those x new tokens at the peak"),
     [](const Scenario& s) { return book(s).flops.value(); }, kNeedsInference},
    {of_text("attention_intensity", ValueUnit::count, "8",
             "FLOPs of attention's dot products for each of their bytes, in bf16"),
     attention_intensity, kNeedsInference},
    {of_text("activation_bytes", ValueUnit::bytes, "84 MB",
             "an activation of width D of all new tokens, of generation of a decode step's"),
     activation_bytes, kNeedsInference},
    {of_text("latency_bound_bytes", ValueUnit::bytes, "360 kB",
             "an array on the tensor ways below which its collectives take a hop's latency"),
     [](const Scenario& s) { return bytes_in_flight(s) * s.step().plan.ways.of_matrix(); },
     kNeedsInference},
    {of_text("latency_bound_ways", ValueUnit::count, "3",
             "tensor ways above which that holds for the activations"),
     [](const Scenario& s) { return activation_bytes(s) / bytes_in_flight(s); }, kNeedsInference},
    {of_text("book_prefill", ValueUnit::time, "910 ms", "2 x parameters x tokens at report.mfu"),
     prefill_time, kNeedsInference | kNeedsMfu},
    {of_text(
         "evicted_tokens_per_step", ValueUnit::count, "96",
         "of sequences of context and report.output_tokens, one of which begins as another ends"),
     [](const Scenario& s) {
         const workloads::CachedRun run = one_step(s).runs.front();
         return sequences(s) * (static_cast<double>(run.cached) + generated(s)) / generated(s);
     },
     kNeedsInference | kNeedsOutput},
    {of_text("qps_per_chip", ValueUnit::count, "0.28",
             "queries a second of the largest batch, each step a whole memory read"),
     [](const Scenario& s) {
         return largest(s) / (full_memory_step(s) * generated(s) * s.hardware.chips());
     },
     kNeedsInference | kNeedsOutput},
    {of_text("prefill_servers", ValueUnit::count, "3",
             "for each generate server, each step a whole memory read, prompts at report.mfu"),
     [](const Scenario& s) { return prefill_time(s) / (full_memory_step(s) * generated(s)); },
     kNeedsInference | kNeedsOutput | kNeedsMfu},
};

}  // namespace

std::span<const Formula> inference_formulas() {
    return kInferenceFormulas;
}

}  // namespace podsim::scenarios
