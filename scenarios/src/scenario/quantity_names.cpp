#include "scenarios/src/scenario/quantity_names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "scenarios/src/scenario/formulas.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

using enum ValueUnit;

// clang-format off
constexpr QuantityName kReported[] = {
    {.name = "step_time", .unit = time, .meaning = "time of a step", .key = "step_time_s",
     .part = JsonPart::times, .example = "2.2 s", .of_programs = true, .column = true},
    {.name = "evaluation_step_time", .unit = time, .meaning = "time of an evaluation step",
     .key = "evaluation.step_time_s", .part = JsonPart::evaluation},
    {.name = "block_time", .unit = time, .meaning = "time of a block of training and evaluation steps",
     .key = "evaluation.block_time_s", .part = JsonPart::evaluation, .example = "286 s"},
    {.name = "compute", .unit = time, .meaning = "time of the compute stream's work", .key = "compute_s",
     .part = JsonPart::times, .example = "2 s", .column = true},
    {.name = "exposed_communication", .unit = time, .meaning = "time the compute stream waits",
     .key = "exposed_communication_s", .part = JsonPart::times, .example = "200 ms", .column = true},
    {.name = "mfu", .unit = share, .meaning = "model FLOPs utilisation", .key = "mfu",
     .part = JsonPart::rates, .example = "45 %", .column = true},
    {.name = "hfu", .unit = share, .meaning = "hardware FLOPs utilisation", .key = "hfu",
     .part = JsonPart::bounds, .example = "60 %", .column = true},
    {.name = "model_tflops_per_s_per_device", .unit = count,
     .meaning = "model TFLOP/s of one of JAX's devices, as flop_rule counts them", .key = "model_tflops_per_s_per_device",
     .part = JsonPart::rates},
    {.name = "flop_rule", .unit = text, .meaning = "how model FLOPs are counted: report.flop_rule", .key = "flop_rule",
     .part = JsonPart::rates},
    {.name = "tokens_per_s", .unit = token_rate, .meaning = "tokens a second", .key = "tokens_per_s",
     .part = JsonPart::rates, .example = "1.9M", .column = true},
    {.name = "bound", .unit = text, .meaning = "what bounds the step, or a program's limiting stage", .key = "bound",
     .part = JsonPart::bounds, .of_programs = true, .column = true},
    {.name = "book", .unit = time,
     .meaning = "the reference text's time of the step, or of a program of one collective",
     .key = "analytic.book_s", .part = JsonPart::bounds, .example = "560 us", .analytic = true,
     .of_programs = true, .column = true},
    {.name = "roofline_lower", .unit = time, .meaning = "the bound that no schedule beats",
     .key = "analytic.roofline_lower_s", .part = JsonPart::bounds, .example = "2 s", .analytic = true,
     .of_programs = true, .column = true},
    {.name = "roofline_serial", .unit = time, .meaning = "every operation after the other",
     .key = "analytic.roofline_serial_s", .part = JsonPart::bounds, .analytic = true, .of_programs = true,
     .column = true},
    {.name = "peak_memory", .unit = bytes, .meaning = "memory of a chip at its peak", .key = "memory.peak_bytes",
     .part = JsonPart::memory, .example = "95 GB", .column = true},
    {.name = "memory_capacity", .unit = bytes, .meaning = "memory that a chip has", .key = "memory.capacity_bytes",
     .part = JsonPart::memory, .column = true},
    {.name = "fits", .unit = truth, .meaning = "whether the peak is within the capacity", .key = "memory.fits",
     .part = JsonPart::memory, .column = true},
    {.name = "tight", .unit = truth, .meaning = "whether the peak is within 5 % of the capacity, above or below",
     .key = "memory.tight", .part = JsonPart::memory, .column = true},
    {.name = "peak_memory_time", .unit = time, .meaning = "when memory is at its peak", .key = "memory.peak_at_s",
     .part = JsonPart::memory},
    {.name = "prefetch_layers", .unit = count, .meaning = "layers that weight gathers run ahead, memory permitting",
     .key = "prefetch_layers", .part = JsonPart::layers, .column = true},
    {.name = "asked_prefetch_layers", .unit = count, .meaning = "layers that they were to run ahead",
     .key = "asked_prefetch_layers", .part = JsonPart::layers},
    {.name = "fetch_layers", .unit = count, .meaning = "layers that offloaded tensors come back ahead, memory permitting",
     .key = "fetch_layers", .part = JsonPart::layers},
    {.name = "asked_fetch_layers", .unit = count, .meaning = "layers that they were to come back ahead",
     .key = "asked_fetch_layers", .part = JsonPart::layers},
    {.name = "asked_prefetch_step_time", .unit = time,
     .meaning = "the step with those asked for, whatever the memory, where it lowered them", .key = "asked_prefetch_step_time_s",
     .part = JsonPart::layers},
    {.name = "pipeline_stages", .unit = count, .meaning = "stages of the pipeline", .key = "pipeline.stages",
     .part = JsonPart::pipeline},
    {.name = "pipeline_schedule", .unit = text, .meaning = "order of passes in a stage", .key = "pipeline.schedule",
     .part = JsonPart::pipeline},
    {.name = "microbatches", .unit = count, .meaning = "parts of the batch", .key = "pipeline.microbatches",
     .part = JsonPart::pipeline},
    {.name = "bubble", .unit = share, .meaning = "share of the step that the reported chip waits for other stages",
     .key = "pipeline.bubble_fraction", .part = JsonPart::pipeline},
    {.name = "formula_bubble", .unit = share, .meaning = "that share by the schedule's formula",
     .key = "pipeline.formula_bubble_fraction", .part = JsonPart::pipeline},
    {.name = "forward_time", .unit = time, .meaning = "forward pass of one microbatch through the reported stage",
     .key = "pipeline.forward_s", .part = JsonPart::pipeline},
    {.name = "input_gradients_time", .unit = time, .meaning = "its gradients of inputs",
     .key = "pipeline.input_gradients_s", .part = JsonPart::pipeline},
    {.name = "weight_gradients_time", .unit = time, .meaning = "its gradients of weights",
     .key = "pipeline.weight_gradients_s", .part = JsonPart::pipeline},
    {.name = "reported_stage", .unit = count, .meaning = "the stage that ends last", .key = "pipeline.reported_stage",
     .part = JsonPart::pipeline},
    {.name = "memory_stage", .unit = count, .meaning = "the stage that needs most memory",
     .key = "pipeline.memory_stage", .part = JsonPart::pipeline},
    {.name = "attention_over_mean", .unit = count, .meaning = "attention of the fullest rank over the mean",
     .key = "imbalance.attention_over_mean", .part = JsonPart::imbalance},
    {.name = "expert_tokens_over_mean", .unit = count, .meaning = "expert tokens of the fullest rank over the mean",
     .key = "imbalance.expert_tokens_over_mean", .part = JsonPart::imbalance},
    {.name = "compute_over_mean", .unit = count, .meaning = "compute of the fullest chip over the mean",
     .key = "imbalance.compute_over_mean", .part = JsonPart::imbalance},
    {.name = "reported_member", .unit = text, .meaning = "the chip that times of a chip are of",
     .key = "imbalance.reported_member", .part = JsonPart::imbalance},
    {.name = "memory_member", .unit = text, .meaning = "the chip that needs most memory",
     .key = "imbalance.memory_member", .part = JsonPart::imbalance},
    {.name = "even_step_time", .unit = time, .meaning = "the step if every rank did the mean",
     .key = "imbalance.even_step_time_s", .part = JsonPart::even_work},
    {.name = "training_tokens", .unit = count, .meaning = "token budget of the training run",
     .key = "training_run.tokens", .part = JsonPart::training_run},
    {.name = "training_run_days", .unit = count, .meaning = "days that it takes", .key = "training_run.days",
     .part = JsonPart::training_run, .column = true},
    {.name = "training_run_chip_hours", .unit = count, .meaning = "hours of all chips that it takes",
     .key = "training_run.chip_hours", .part = JsonPart::training_run, .column = true},
    {.name = "training_run_cost", .unit = money, .meaning = "its price", .key = "training_run.cost_usd",
     .part = JsonPart::training_run, .column = true},
    {.name = "time_per_token", .unit = time, .meaning = "between two tokens of a sequence, of decode and generation (without its prefill)",
     .key = "inference.time_per_token_s", .part = JsonPart::inference, .example = "20 ms", .column = true},
    {.name = "tokens_per_s_per_chip", .unit = token_rate, .meaning = "tokens a second and chip",
     .key = "inference.tokens_per_s_per_chip", .part = JsonPart::inference, .example = "200", .column = true},
    {.name = "cost_per_million_tokens", .unit = money, .meaning = "chips' price for a million tokens",
     .key = "inference.cost_per_million_tokens_usd", .part = JsonPart::inference, .column = true},
    {.name = "chips", .unit = count, .meaning = "chips of all slices", .key = "chips", .part = JsonPart::machine,
     .of_programs = true, .column = true},
    {.name = "simulated_chips", .unit = count, .meaning = "chips after folding", .key = "simulated_chips",
     .part = JsonPart::folding, .of_programs = true, .column = true},
    {.name = "events", .unit = count, .meaning = "events of the simulated chips", .key = "events",
     .part = JsonPart::events, .of_programs = true, .column = true},
    {.name = "played_events", .unit = count, .meaning = "those that were played, neither skipped as repeats nor done alike by another link of the chip",
     .key = "played_events", .part = JsonPart::events},
};

constexpr QuantityName kServed[] = {
    {.name = "mean_ttft", .unit = time, .meaning = "from arrival to a request's first token, mean of a serving run",
     .key = "time_to_first_token.mean_s", .example = "200 ms", .of_serving = true},
    {.name = "median_ttft", .unit = time, .meaning = "from arrival to a request's first token, median of a serving run",
     .key = "time_to_first_token.median_s", .example = "200 ms", .of_serving = true},
    {.name = "p99_ttft", .unit = time, .meaning = "from arrival to a request's first token, 99th percentile of a serving run",
     .key = "time_to_first_token.p99_s", .example = "200 ms", .of_serving = true},
    {.name = "mean_tpot", .unit = time, .meaning = "a token of a request after its first, mean of a serving run",
     .key = "time_per_output_token.mean_s", .example = "25 ms", .of_serving = true},
    {.name = "median_tpot", .unit = time, .meaning = "a token of a request after its first, median of a serving run",
     .key = "time_per_output_token.median_s", .example = "25 ms", .of_serving = true},
    {.name = "p99_tpot", .unit = time, .meaning = "a token of a request after its first, 99th percentile of a serving run",
     .key = "time_per_output_token.p99_s", .example = "25 ms", .of_serving = true},
    {.name = "mean_itl", .unit = time, .meaning = "between two tokens of a request, mean of a serving run",
     .key = "inter_token_latency.mean_s", .example = "23 ms", .of_serving = true},
    {.name = "median_itl", .unit = time, .meaning = "between two tokens of a request, median of a serving run",
     .key = "inter_token_latency.median_s", .example = "23 ms", .of_serving = true},
    {.name = "p99_itl", .unit = time, .meaning = "between two tokens of a request, 99th percentile of a serving run",
     .key = "inter_token_latency.p99_s", .example = "23 ms", .of_serving = true},
    {.name = "output_tokens_per_s", .unit = token_rate, .meaning = "tokens that a serving run makes a second",
     .key = "output_tokens_per_s", .example = "2500", .of_serving = true},
    {.name = "requests_per_s", .unit = count, .meaning = "requests that a serving run ends a second",
     .key = "requests_per_s", .example = "2.5", .of_serving = true},
    {.name = "goodput_requests_per_s", .unit = count, .meaning = "those of them that meet the objective",
     .key = "goodput_requests_per_s", .example = "2.2", .of_serving = true},
};
// clang-format on

}  // namespace

std::span<const QuantityName> reported_quantities() {
    return kReported;
}

std::span<const QuantityName> served_quantities() {
    return kServed;
}

std::vector<QuantityName> expected_quantities() {
    std::vector<QuantityName> expected;
    std::ranges::copy_if(kReported, std::back_inserter(expected),
                         [](const QuantityName& one) { return !one.example.empty(); });
    expected.insert(expected.end(), std::begin(kServed), std::end(kServed));
    for (const Formula& formula : all_formulas()) {
        expected.push_back(formula.quantity);
    }
    return expected;
}

const QuantityName& find_quantity(std::string_view name) {
    for (const std::span<const QuantityName> all : {reported_quantities(), served_quantities()}) {
        const auto found = std::ranges::find(all, name, &QuantityName::name);
        if (found != all.end()) {
            return *found;
        }
    }
    if (const Formula* const formula = find_formula(name)) {
        return formula->quantity;
    }
    std::vector<std::string_view> names;
    for (const QuantityName& quantity : expected_quantities()) {
        names.push_back(quantity.name);
    }
    throw sim::unknown_name("quantity", name, names);
}

}  // namespace podsim::scenarios
