#include "scenarios/advice/inference_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "scenarios/advice/serving_fit.h"
#include "scenarios/lower/rates.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/format.h"
#include "scenarios/text/table.h"
#include "workloads/analytic/book_inference.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

using workloads::BookInference;
using workloads::CachedRun;

std::string run_text(const CachedRun& run) {
    const std::string sequences =
        fmt::format("{} sequence{}", run.sequences, run.sequences == 1 ? "" : "s");
    const std::string cached =
        run.cached == 0 ? "" : fmt::format(", {} tokens of each in the cache", run.cached);
    if (run.fresh == 1) {
        return fmt::format("decode of {}{}", sequences, cached);
    }
    if (run.logits == run.fresh) {
        return fmt::format("decode of {}, {} drafted tokens of each verified{}", sequences,
                           run.fresh - 1, cached);
    }
    return fmt::format("prefill of {} of {} tokens{}", sequences, run.fresh, cached);
}

/// `int8` of 1 byte: what is stored has as many bits, whatever they mean.
std::string width_text(double bytes) {
    return fmt::format("{:g} B", bytes);
}

BookInference book_of(const Scenario& scenario) {
    return workloads::book_inference(scenario.step().model, scenario.step().plan,
                                     scenario.hardware.chips(), ideal_rates(scenario.hardware),
                                     scenario.step().report.parameters.value_or(0));
}

std::string batch_that_fits(const Scenario& scenario) {
    const auto& runs = scenario.step().plan.inference->runs;
    if (runs.size() > 1) {
        return {};
    }
    const std::int64_t most = largest_batch(scenario);
    const std::int64_t tokens = runs.front().cached + runs.front().fresh;
    return most == 0
               ? fmt::format("no sequence of {} tokens fits beside the weights", tokens)
               : fmt::format("{} sequence{} of {} tokens", most, most == 1 ? "" : "s", tokens);
}

}  // namespace

std::string runs_text(const workloads::TrainingPlan& plan) {
    std::vector<std::string> runs;
    for (const CachedRun& run : plan.inference->runs) {
        runs.push_back(run_text(run));
    }
    return fmt::format("{}", fmt::join(runs, "; "));
}

std::string stored_text(const workloads::TrainingPlan& plan) {
    const workloads::Inference& inference = *plan.inference;
    const std::string split = plan.ways.cache == 1 ? ""
                              : inference.split == workloads::CacheSplit::batch
                                  ? ", the cache split over the batch"
                                  : ", the cache split over its tokens";
    return fmt::format("{} matmuls of weights of {}, cache of {}{}",
                       to_string(plan.precision.matmul), width_text(plan.precision.parameters),
                       width_text(inference.cache_element), split);
}

std::string inference_report(const Scenario& scenario, const StepResult& result) {
    if (!scenario.step().plan.inference) {
        return {};
    }
    const BookInference book = book_of(scenario);
    const workloads::Inference& inference = *scenario.step().plan.inference;
    Table table({1, 2});
    table.row({"Weights and cache", "", ""});
    table.row({"  weights", format_bytes(book.parameters),
               fmt::format("{:.1f} % of the step, were they read once at full rate",
                           100 * book.weights.value() / result.step_time.seconds())});
    table.row(
        {"  cache read",
         format_bytes(sim::Bytes(book.cache.value() * scenario.hardware.chips() *
                                 scenario.hardware.chip.hbm_bandwidth.value.value())),
         fmt::format("{:.1f} % of it", 100 * book.cache.value() / result.step_time.seconds())});
    table.row({"  cache of a token", format_bytes(book.of_token), ""});
    table.row({"  cache of a sequence", format_bytes(book.of_sequence), ""});
    if (const std::string most = batch_that_fits(scenario); !most.empty()) {
        table.row({"  largest batch", most, ""});
    }
    table.row({"  critical batch", fmt::format("{:.0f} tokens a step", book.critical_batch),
               fmt::format("this step has {}; above it matmuls take longer than loading weights",
                           inference.tokens())});
    return table.text(0);
}

}  // namespace podsim::scenarios
