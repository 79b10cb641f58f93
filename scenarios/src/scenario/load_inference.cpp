#include "scenarios/src/scenario/load_inference.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/read_experts.h"
#include "scenarios/src/scenario/training_parts.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::scenarios {
namespace {

using workloads::CachedRun;
using workloads::CacheSplit;
using workloads::Inference;
using workloads::TrainingPlan;

enum class Step { prefill, decode, generate };
constexpr std::pair<std::string_view, Step> kSteps[] = {
    {"prefill", Step::prefill}, {"decode", Step::decode}, {"generate", Step::generate}};
constexpr std::pair<std::string_view, double> kStored[] = {
    {"bf16", 2.0}, {"fp32", 4.0}, {"int8", 1.0}, {"fp8", 1.0}, {"int4", 0.5}};
constexpr std::pair<std::string_view, double> kActivations[] = {
    {"bf16", 2.0}, {"int8", 1.0}, {"fp8", 1.0}};
constexpr std::pair<std::string_view, CacheSplit> kSplits[] = {{"batch", CacheSplit::batch},
                                                               {"sequence", CacheSplit::sequence}};

constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;
constexpr std::int64_t kMostDrafted = 64;  ///< the limit of serving.speculation.tokens

constexpr std::int64_t kMostSequences = std::int64_t{1} << 24;

std::int64_t parse_up_to(std::int64_t most, const std::string& text) {
    const std::int64_t count = parse_count(text);
    if (count < 1 || count > most) {
        throw sim::InputError(fmt::format("{} is out of range", in_quotes(text)),
                              fmt::format("allowed: 1 to {}", most));
    }
    return count;
}

/// Reads the tokens of a sequence; a step has at least one.
std::int64_t parse_tokens(const std::string& text) {
    return parse_up_to(kMostTokens, text);
}

std::int64_t parse_sequences(const std::string& text) {
    return parse_up_to(kMostSequences, text);
}

/// Refuses `sequences` if the new tokens of all of them exceed the limit.
void check_tokens(const Reader& sequences, const CachedRun& run) {
    if (run.fresh > 0 && run.sequences > kMostTokens / run.fresh) {
        sequences.refuse(fmt::format("{} sequences of {} tokens are more than a step can have",
                                     run.sequences, run.fresh),
                         fmt::format("write at most {}", kMostTokens / run.fresh));
    }
}

/// Reads runs one by one, for steps that mix them.
std::vector<CachedRun> read_runs(const Reader& inference) {
    for (const std::string_view key : {"batch", "prompt", "context", "draft", "generate"}) {
        if (inference[key].present()) {
            inference[key].refuse("runs say for themselves how long they are",
                                  "leave it out, or leave out inference.runs");
        }
    }
    std::vector<CachedRun> runs;
    for (const Reader& item : inference["runs"].items()) {
        CachedRun run;
        run.sequences = item["sequences"].read(parse_sequences);
        run.fresh = item["tokens"].get<std::int64_t>(parse_tokens, 1);
        run.cached = item["context"].get<std::int64_t>(parse_count, 0);
        run.logits = item["logits"].get<std::int64_t>(parse_count, 1);
        if (run.logits > run.fresh) {
            item["logits"].refuse(
                fmt::format("logits of {} tokens, but a sequence brings {}", run.logits, run.fresh),
                "write at most as many");
        }
        check_tokens(item["sequences"], run);
        runs.push_back(run);
    }
    if (runs.empty()) {
        inference["runs"].refuse("the list is empty",
                                 "write [{sequences: 32, tokens: 1, context: 8192}]");
    }
    return runs;
}

constexpr std::pair<std::string_view, bool> kAttentions[] = {{"paged", false}, {"dense", true}};
constexpr std::pair<std::string_view, bool> kSchedulings[] = {{"sync", false}, {"async", true}};
constexpr std::pair<std::string_view, bool> kLoops[] = {{"host", false}, {"device", true}};

CachedRun read_run(const Reader& inference, Step step) {
    CachedRun run;
    if (step != Step::decode) {
        if (inference["draft"].present()) {
            inference["draft"].refuse("drafts are verified in decode",
                                      "leave it out, or write inference.step: decode");
        }
        run.sequences = inference["batch"].get<std::int64_t>(parse_sequences, 1);
        run.fresh = inference["prompt"].read(parse_tokens);
        run.cached = inference["context"].get<std::int64_t>(parse_count, 0);
        check_tokens(inference["batch"], run);
        return run;
    }
    if (inference["prompt"].present()) {
        inference["prompt"].refuse("a decode step has no prompt",
                                   "write the tokens before it as inference.context");
    }
    run.sequences = inference["batch"].read(parse_sequences);
    run.cached = inference["context"].read(parse_count);
    run.fresh = 1 + inference["draft"].whole(0, kMostDrafted, 0);
    run.logits = run.fresh;
    check_tokens(inference["batch"], run);
    return run;
}

/// Returns the inference of a server, whose loop decides what a step is: one sequence and token, of
/// which only the storage counts.
Inference read_served(const Reader& section) {
    for (const std::string_view key :
         {"step", "batch", "prompt", "context", "draft", "generate", "loop", "runs", "reserve"}) {
        if (section[key].present()) {
            section[key].refuse("serving says what a step is", "leave it out");
        }
    }
    if (section["microbatches"].present()) {
        section["microbatches"].refuse(
            "serving plays a pipeline with one batch in flight, stage after stage", "leave it out");
    }
    Inference inference;
    inference.runs = {{}};
    inference.runs.front().sequences = 1;
    return inference;
}

Inference read_work(const Reader& section) {
    Inference inference;
    const Step step = section["step"].require().choose<Step>(kSteps, Step::decode);
    if (!section["step"].sound()) {
        return inference;  // the other required keys depend on it
    }
    inference.runs =
        section["runs"].present() ? read_runs(section) : std::vector{read_run(section, step)};
    if (step == Step::generate) {
        inference.generate = section["generate"].require().whole(1, 1 << 20, 1);
        inference.loop_on_device = section["loop"].choose<bool>(kLoops, false);
    } else {
        for (const std::string_view key : {"generate", "loop"}) {
            if (section[key].present()) {
                section[key].refuse("tokens are generated one after another by several steps",
                                    "leave it out, or write inference.step: generate");
            }
        }
    }
    inference.reserved = section["reserve"].get<std::int64_t>(parse_count, 0);
    return inference;
}

Inference read_inference_of(const Reader& root) {
    const Reader section = root["inference"];
    Inference inference = root["serving"].said() ? read_served(section) : read_work(section);
    inference.dense = section["attention"].choose<bool>(kAttentions, false);
    inference.asynchronous = section["scheduling"].choose<bool>(kSchedulings, false);
    if (inference.asynchronous && inference.loop_on_device) {
        section["scheduling"].refuse("a loop on the device asks its host once",
                                     "leave it out, or write loop: host");
    }
    inference.cache_element = section["kv_cache"].choose<double>(kStored, 2);
    inference.split = section["cache_split"].choose<CacheSplit>(kSplits, CacheSplit::batch);
    return inference;
}

/// Returns the blocks of the kernel over pages; none if they are not given.
workloads::ScoreBlock read_paged_blocks(const Reader& section) {
    const Reader blocks = section["attention_blocks"];
    if (!blocks.present()) {
        return {};
    }
    if (section["attention"].choose<bool>(kAttentions, false)) {
        blocks.refuse("dense attention has no blocks", "leave it out, or write attention: paged");
    }
    const auto of = [&](const char* key) {
        return static_cast<double>(blocks[key].require().whole(1, 1 << 20, 1));
    };
    return {.q = of("q"), .kv = of("kv")};
}

/// Without the key, takes the storage that the model's own file states.
void take_stored(const Reader& weights, const workloads::StoredWeights& stored,
                 workloads::Precision& precision) {
    if (weights.present() || stored.place.empty()) {
        return;
    }
    if (!stored.known()) {
        weights.refuse(fmt::format("quantization_config of {}: {}", stored.place, stored.unknown),
                       "write inference.weights: bf16, fp32, int8, fp8, int4");
        return;
    }
    precision.parameters = stored.dense;
    precision.expert_parameters = stored.experts;
    precision.table_parameters = stored.tables;
    constexpr double kBits = 8;
    weights.works_out_as(
        fmt::format("{:.2f} bits of layers, {:.2f} of experts, {:.2f} of tables",
                    stored.dense * kBits, stored.experts * kBits, stored.tables * kBits),
        fmt::format("quantization_config of {}: {}", stored.place, stored.how));
}

workloads::Precision read_stored(const Reader& section, const topology::ChipSpec& chip,
                                 const workloads::StoredWeights& stored) {
    workloads::Precision precision;
    precision.matmul = read_dtype(section["precision"], chip);
    precision.parameters = section["weights"].choose<double>(kStored, 2);
    take_stored(section["weights"], stored, precision);
    precision.compute = section["activations"].choose<double>(kActivations, 2);
    precision.logits = 2;
    precision.scaling = workloads::Scaling::fixed;
    precision.stored_gather = true;
    if (precision.matmul != workloads::MatmulDtype::bf16 && precision.parameters >= 2) {
        section["precision"].refuse(
            fmt::format("{} matmuls of weights that are stored wider", to_string(precision.matmul)),
            "write inference.weights: int8, fp8 or int4");
    }
    return precision;
}

/// Refuses keys that have no meaning for the step or the mesh.
void refuse_without_meaning(const Reader& section, const TrainingPlan& plan, bool latent,
                            bool served) {
    std::int64_t reached = 0;
    for (const CachedRun& run : plan.inference->runs) {
        const std::int64_t generated = std::max<std::int64_t>(plan.inference->generate, 1) - 1;
        reached = std::max(reached, run.cached + run.fresh + generated);
    }
    const Reader reserve = section["reserve"];
    reserve.check({"inference"}, [&] {
        if (reserve.present() && plan.inference->reserved < reached) {
            reserve.refuse(fmt::format("room for {} tokens of a sequence, which reaches {}",
                                       plan.inference->reserved, reached),
                           "write at least as many, or leave it out");
        }
    });
    section["attention_blocks"].check({"mesh", "model", "serving"}, [&] {
        const Reader blocks = section["attention_blocks"];
        const bool single = std::ranges::all_of(
            plan.inference->runs, [](const CachedRun& run) { return run.fresh == 1; });
        if (blocks.present() && single && !served) {
            blocks.refuse("blocks of queries, and every sequence brings one token", "leave it out");
        }
        if (blocks.present() && (plan.ways.cache > 1 || plan.ways.context > 1)) {
            blocks.refuse("blocks are those of a kernel that has all keys of its sequences",
                          "leave it out, or the axes cache and context");
        }
        if (blocks.present() && latent) {
            blocks.refuse("blocks are of keys and values, and the model keeps latent vectors",
                          "leave it out");
        }
    });
    section["microbatches"].check({"mesh"}, [&] {
        if (plan.batch.microbatches > 1 && plan.ways.pipeline == 1) {
            section["microbatches"].refuse("microbatches without a pipeline",
                                           "leave it out, or add the axis pipeline");
        }
    });
    section["cache_split"].check({"mesh"}, [&] {
        if (section["cache_split"].present() && plan.ways.cache == 1) {
            section["cache_split"].refuse("the cache is not split over an axis of its own",
                                          "leave it out, or add the axis cache");
        }
    });
}

}  // namespace

TrainingPlan read_inference(const Reader& root, const topology::DeviceMesh& mesh,
                            const Hardware& hardware, const workloads::ModelSpec& model) {
    const Reader section = root["inference"];
    TrainingPlan plan;
    plan.forward_only = true;
    plan.inference = read_inference_of(root);
    if (!section.sound()) {  // faults are noted already; the rest is checked with one token
        plan.inference->runs = {{1, 1, 0, 1}};
    }
    const auto& runs = plan.inference->runs;
    plan.batch.tokens = plan.inference->tokens();
    plan.batch.sequence = runs.size() == 1 ? runs.front().fresh : 1;
    if (!root["serving"].said()) {
        plan.batch.microbatches = static_cast<int>(section["microbatches"].whole(1, 1 << 20, 1));
    }
    plan.ways = workloads::ways_of(mesh);
    plan.attention.blocks.forward = read_paged_blocks(section);
    refuse_without_meaning(section, plan, model.latent.kv_rank > 0, root["serving"].said());
    read_served_experts(section, mesh, model, plan);
    plan.moe.cores = hardware.chip.cores.value;
    plan.precision = read_stored(section, hardware.chip, model.stored);
    plan.attention.vmem = hardware.chip.vmem.value / hardware.chip.cores.value;
    read_overlap(root["overlap"], mesh, hardware, model, plan);
    workloads::validate(plan, model, root.faults());
    return plan;
}

}  // namespace podsim::scenarios
