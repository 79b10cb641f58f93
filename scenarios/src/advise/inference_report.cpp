#include "scenarios/src/advise/inference_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/rates.h"
#include "workloads/bounds/book_inference.h"
#include "workloads/models/model.h"
#include "workloads/plan/axes.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

std::int64_t shards_of(const workloads::TrainingPlan& plan) {
    return ways_with(&workloads::PlanAxis::splits_batch, plan.ways) * plan.batch.microbatches;
}

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
        return fmt::format(
            "decode of {}, {} drafted tokens of each verified, none counted as accepted{}",
            sequences, run.fresh - 1, cached);
    }
    return fmt::format("prefill of {} of {} tokens{}", sequences, run.fresh, cached);
}

/// Returns the stored width, such as that of `int8`, 1 byte; it does not depend on the meaning of
/// the bits.
std::string width_text(double bytes) {
    return fmt::format("{:g} B", bytes);
}

BookInference book_of(const Scenario& scenario) {
    return workloads::book_inference(scenario.step().model, scenario.step().plan,
                                     scenario.hardware.chips(), ideal_rates(scenario.hardware),
                                     scenario.step().report.parameters.value_or(0));
}

std::string sequences_text(std::int64_t count, std::int64_t tokens) {
    return fmt::format("{} sequence{} of {} tokens", count, count == 1 ? "" : "s", tokens);
}

/// Agrees with the account of the step's memory (memory_report.h): a batch that is tight there is
/// not refused here, and one that fits is not too large.
std::string batch_that_fits(const Scenario& scenario, const MemoryUse& memory) {
    const auto& runs = scenario.step().plan.inference->runs;
    if (runs.size() > 1) {
        return {};
    }
    const std::int64_t batch = runs.front().sequences;
    const std::int64_t most =
        memory.fits ? std::max(largest_batch(scenario), in_whole_shards(scenario, batch))
                    : largest_batch(scenario);
    const std::int64_t generated = scenario.step().plan.inference->generate;
    const std::int64_t tokens =
        runs.front().cached + runs.front().fresh + std::max<std::int64_t>(generated, 1) - 1;
    if (memory.tight && most < batch) {
        return most == 0 ? sequences_text(batch, tokens) + ", tight (see below)"
                         : fmt::format("{}; the step's {} are tight (see below)",
                                       sequences_text(most, tokens), batch);
    }
    return most == 0 ? fmt::format("no sequence of {} tokens fits beside the weights", tokens)
                     : sequences_text(most, tokens);
}

/// Returns the fraction of the parameters that a step reads whole. An embedding that is not the
/// unembedding, and learned positions, are read one row a token.
double share_read_whole(const workloads::ModelSpec& model) {
    const workloads::ParameterCount count = workloads::count_parameters(model);
    const std::int64_t rows = count.positions + (model.tied_embeddings ? 0 : count.embedding);
    return 1 - static_cast<double>(rows) / static_cast<double>(count.total);
}

std::string weights_text(const Scenario& scenario, const BookInference& book,
                         const StepResult& result) {
    const double share = share_read_whole(scenario.step().model);
    return fmt::format(
        "{:.1f} % of the step, were {} read once{} at full rate",
        100 * share * book.weights.value() / result.step_time.seconds(),
        share < 1 ? "all but the embedding's" : "they",
        scenario.step().plan.inference->generate > 1 ? " for every token of a sequence" : "");
}

/// Rows of the matmuls of a step, or of the decode steps of a step that generates.
struct Rows {
    std::int64_t tokens = 0;  ///< of all shards and microbatches
    /// Rows of one shard and microbatch; of a routed expert if there are experts.
    double of_matmul = 0;
    /// Tokens below which the MXU takes no less time.
    double least = 0;
    int array = 0;
    bool decode = false;
};

Rows rows_of(const Scenario& scenario) {
    const workloads::TrainingPlan& plan = scenario.step().plan;
    const workloads::Experts& experts = scenario.step().model.experts;
    const double share = experts.count > 0 ? static_cast<double>(experts.per_token) /
                                                 static_cast<double>(experts.count)
                                           : 1;
    Rows rows;
    rows.array = scenario.hardware.chip.mxu_dimension.value;
    rows.decode = plan.inference->generate > 1;
    rows.tokens = rows.decode ? plan.inference->sequences() : plan.inference->tokens();
    const std::int64_t parts =
        ways_with(&workloads::PlanAxis::splits_batch, plan.ways) * plan.batch.microbatches;
    rows.of_matmul =
        std::ceil(static_cast<double>(rows.tokens) / static_cast<double>(parts)) * share;
    rows.least = rows.array / share;
    return rows;
}

/// True if the MXU takes longer for its rows than their weights take to load only because the rows
/// are too few to fill it.
bool too_few(const Rows& rows, const BookInference& book) {
    return rows.of_matmul < rows.array && book.critical_batch < rows.least;
}

}  // namespace

std::int64_t in_whole_shards(const Scenario& scenario, std::int64_t sequences) {
    const std::int64_t shards = shards_of(scenario.step().plan);
    return (sequences + shards - 1) / shards * shards;
}

sim::Bytes peak_with_batch(const Scenario& scenario, std::int64_t sequences) {
    workloads::TrainingPlan plan = scenario.step().plan;
    workloads::Inference& inference = plan.inference.value();
    inference.runs.front().sequences = sequences;
    plan.batch.tokens = inference.tokens();
    plan.overlap.prefetch_layers = 0;  // a step shortens its look-ahead before it exceeds memory
    return workloads::peak_of_stages(scenario.step().model, plan);
}

std::int64_t largest_batch(const Scenario& scenario) {
    const workloads::TrainingPlan& plan = scenario.step().plan;
    const sim::Bytes capacity = scenario.hardware.chip.usable_hbm();
    const std::int64_t shards = shards_of(plan);
    const auto fits = [&](std::int64_t of_shard) {
        return peak_with_batch(scenario, of_shard * shards) <= capacity;
    };
    if (!fits(1)) {
        return 0;
    }
    std::int64_t most = 1;
    constexpr std::int64_t kEnough = 1LL << 30;
    while (most < kEnough && fits(2 * most)) {
        most *= 2;
    }
    for (std::int64_t step = most / 2; step > 0; step /= 2) {
        most += fits(most + step) ? step : 0;
    }
    return most * shards;
}

std::string runs_text(const workloads::TrainingPlan& plan) {
    std::vector<std::string> runs;
    for (const CachedRun& run : plan.inference->runs) {
        runs.push_back(run_text(run));
    }
    const std::int64_t generated = plan.inference->generate;
    return fmt::format("{}{}", fmt::join(runs, "; "),
                       generated == 0 ? ""
                                      : fmt::format(", {} token{} of each generated", generated,
                                                    generated == 1 ? "" : "s"));
}

/// Returns the stored width of weights; if a file gives several, their mean over all parameters.
std::string weights_text(const Scenario& scenario) {
    const workloads::Precision& precision = scenario.step().plan.precision;
    if (precision.stored_alike()) {
        return width_text(precision.parameters);
    }
    return fmt::format("{:.3g} B (layers {:.3g}, experts {:.3g}, tables {:.3g}: {}, {})",
                       workloads::mean_stored_bytes(scenario.step().model, precision),
                       precision.parameters, precision.stored_experts(), precision.stored_tables(),
                       scenario.step().model.stored.place, scenario.step().model.stored.how);
}

std::string stored_text(const Scenario& scenario) {
    const workloads::TrainingPlan& plan = scenario.step().plan;
    const workloads::Inference& inference = *plan.inference;
    const workloads::ScoreBlock& block = plan.attention.blocks.forward;
    const topology::Efficiency& reached = scenario.hardware.efficiency;
    const bool lacks = reached.kernel_s == 0 && reached.sequence_s == 0 && reached.host_s == 0;
    const std::string split = plan.ways.cache == 1 ? ""
                              : inference.split == workloads::CacheSplit::batch
                                  ? ", the cache split over the batch"
                                  : ", the cache split over its tokens";
    return fmt::format(
        "{} matmuls of weights of {}, cache of {}{}{}{}{}{}", to_string(plan.precision.matmul),
        weights_text(scenario), width_text(inference.cache_element), split,
        block.q > 0 ? fmt::format(", new tokens in blocks of {} and {} keys", block.q, block.kv)
                    : "",
        plan.moe.whole ? ", whole experts on tensor ways" : "",
        inference.asynchronous ? ", the host beside the device" : "",
        lacks && scenario.hardware.profile != "ideal"
            ? ", no overheads of inference (the profile has none: podsim calibrate "
              "--inference fits them)"
            : "");
}

std::string inference_report(const Scenario& scenario, const StepResult& result) {
    if (!scenario.step().plan.inference) {
        return {};
    }
    const BookInference book = book_of(scenario);
    const Rows rows = rows_of(scenario);
    Table table({1, 2});
    table.row({"Weights and cache", "", ""});
    table.row({"  weights", format_bytes(book.parameters), weights_text(scenario, book, result)});
    table.row(
        {"  cache read", format_bytes(book.cached),
         fmt::format("{:.1f} % of it", 100 * book.cache.value() / result.step_time.seconds())});
    table.row({"  cache of a token", format_bytes(book.of_token), ""});
    table.row({"  cache of a sequence", format_bytes(book.of_sequence), ""});
    if (const std::string most = batch_that_fits(scenario, result.memory); !most.empty()) {
        table.row({"  largest batch", most, ""});
    }
    const std::string has =
        fmt::format("{} has {}", rows.decode ? "a decode step" : "this step", rows.tokens);
    table.row({"  critical batch", fmt::format("{:.0f} tokens a step", book.critical_batch),
               too_few(rows, book)
                   ? fmt::format("{}; the MXU takes fewer than {} rows as long as {}, longer than "
                                 "loading weights",
                                 has, rows.array, rows.array)
                   : fmt::format("{}; above it matmuls take longer than loading weights", has)});
    return table.text(0);
}

std::string few_rows_text(const Scenario& scenario, const StepResult& result) {
    const std::vector<Share>& path = result.critical_path;
    if (!scenario.step().plan.inference || result.lower.bound != "hbm" || path.empty() ||
        path.front().name != "MXU") {
        return {};
    }
    const Rows rows = rows_of(scenario);
    if (!too_few(rows, book_of(scenario))) {
        return {};
    }
    return fmt::format(
        "  waits most of all for the MXU, {:.0f} % of the step: it takes fewer than {} rows as "
        "long as {}, and matmuls have {:.4g}\n",
        100 * path.front().time.seconds() / result.step_time.seconds(), rows.array, rows.array,
        rows.of_matmul);
}

}  // namespace podsim::scenarios
