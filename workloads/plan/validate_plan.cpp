#include "workloads/plan/validate_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/input_faults.h"
#include "workloads/models/model.h"
#include "workloads/models/setting_error.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/nearest_size.h"
#include "workloads/plan/padding.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_experts.h"
#include "workloads/plan/validate_inference.h"

namespace podsim::workloads {
namespace {

constexpr std::int64_t kMostTokens = 1LL << 40;
constexpr std::int64_t kMostWays = 1LL << 20;
constexpr double kWidestElement = 16;  // bytes

void check_range(std::string_view setting, std::int64_t value, std::int64_t least,
                 std::int64_t most) {
    if (value < least || value > most) {
        throw SettingError(
            std::string(setting),
            fmt::format("{} = {} is out of range", setting.substr(setting.rfind('.') + 1), value),
            fmt::format("allowed are {} to {}", least, most));
    }
}

/// Checks the rest: sizes that the ways do not divide are padded.
void check_tensor(const TrainingPlan& plan, const ModelSpec& model) {
    const int ways = plan.ways.of_matrix();
    const std::string setting = fmt::format(
        "{} = {}", fmt::join(axes_with(&PlanAxis::splits_matrices, plan.ways), " x "), ways);
    const ModelSpec wide = padded(
        model, plan.ways, plan.inference ? KeyHeads::repeated : KeyHeads::split, plan.moe.whole);
    for (const bool local : {true, false}) {
        const std::int64_t kv_heads = attention_sizes(wide, {.local = local}).kv_heads;
        if (has_layers(wide, local) && wide.heads % kv_heads != 0) {
            const bool apart = !local && wide.global.kv_heads > 0;
            throw SettingError("mesh.tensor",
                               fmt::format("{} pads the {} query heads of {} to {}, which its {} "
                                           "key/value heads{} do not divide",
                                           setting, model.heads, model.name, wide.heads, kv_heads,
                                           apart ? " of global layers" : ""),
                               nearest_divisors(ways, model.heads));
        }
    }
    const std::int64_t keys = model.latent.kv_rank + model.latent.rope_dim;
    if (model.latent.kv_rank > 0 && keys % ways != 0) {
        throw SettingError("mesh.tensor",
                           fmt::format("{} does not divide the {} latent columns of keys of {}",
                                       setting, keys, model.name),
                           nearest_divisors(ways, std::gcd(keys, model.heads)));
    }
}

void check_tensor_transpose(const TrainingPlan& plan, const ModelSpec& model) {
    if (plan.ways.tensor_transpose == 1) {
        return;
    }
    const std::string setting = fmt::format("tensor_transpose = {}", plan.ways.tensor_transpose);
    if (plan.ways.tensor == 1) {
        throw SettingError(
            "mesh.tensor_transpose",
            fmt::format("{} without tensor: it splits weight matrices over d_model beside tensor, "
                        "which splits their other dimension",
                        setting),
            "add the axis tensor, or use this one as tensor");
    }
    if (model.d_model % plan.ways.tensor_transpose != 0) {
        throw SettingError("mesh.tensor_transpose",
                           fmt::format("{} does not divide the width (d_model) {} of {}", setting,
                                       model.d_model, model.name),
                           nearest_divisors(plan.ways.tensor_transpose, model.d_model));
    }
    if (model.experts.count > 0 || model.latent.kv_rank > 0) {
        throw SettingError(
            "mesh.tensor_transpose",
            fmt::format("{} with {}: {} cannot be split over d_model yet", setting, model.name,
                        model.experts.count > 0 ? "experts" : "latent attention"),
            "use the axis as tensor or fsdp");
    }
    if (plan.overlap.tensor_steps) {
        throw SettingError(
            "mesh.tensor_transpose",
            fmt::format("{} with overlapped tensor collectives: ring steps between parts of a "
                        "matmul are there for matrices split over one axis alone",
                        setting),
            "write overlap.tensor: blocking, or use the axis as tensor");
    }
}

void check_placement(const TrainingPlan& plan) {
    if (plan.attention.placement == Placement::plain &&
        (plan.ways.context == 1 || !plan.attention.causal)) {
        throw SettingError(
            "training.placement",
            plan.ways.context == 1
                ? "placement of a sequence's parts, but context = 1: it has one part"
                : "placement of a sequence's parts with full attention, of which all "
                  "parts have the same work",
            plan.ways.context == 1 ? "leave it out, or add the axis context"
                                   : "leave it out, or write attention: causal");
    }
}

void check_remat(const TrainingPlan& plan) {
    for (const LayerTensor tensor : kLayerTensors) {
        if (plan.remat.names.save.has(tensor) && plan.remat.names.offload.has(tensor)) {
            throw SettingError(
                "training.remat",
                fmt::format("remat both saves and offloads {}", to_string(tensor)),
                "name it once: saved tensors stay in HBM, offloaded ones go to the host");
        }
    }
}

void check_sequence(const TrainingPlan& plan) {
    const bool zigzag = plan.attention.causal && plan.ways.context > 1 &&
                        plan.attention.placement == Placement::zig_zag;
    const std::int64_t pieces = zigzag ? 2LL * plan.ways.context : plan.ways.context;
    // Rows of inference are complete on every tensor rank.
    const std::int64_t shards =
        static_cast<std::int64_t>(plan.ways.context) * (plan.inference ? 1 : plan.ways.tensor);
    const std::int64_t unit = std::lcm(pieces, shards);
    const std::string_view name = plan.inference ? "prompt" : "sequence";
    const std::string setting = plan.inference ? "inference.prompt" : "batch.sequence";
    if (plan.batch.sequence % pieces != 0) {
        throw SettingError(
            setting,
            zigzag ? fmt::format("{} = {} does not split into the 2 x context = {} equal "
                                 "pieces of the causal zig-zag placement",
                                 name, plan.batch.sequence, pieces)
                   : fmt::format("{} = {} does not split over context = {}", name,
                                 plan.batch.sequence, pieces),
            nearest_multiples(plan.batch.sequence, unit));
    }
    if (plan.batch.sequence % shards != 0) {
        throw SettingError(setting,
                           fmt::format("{} = {} does not split over context x tensor = {}", name,
                                       plan.batch.sequence, shards),
                           nearest_multiples(plan.batch.sequence, unit));
    }
}

void check_microbatches(const TrainingPlan& plan) {
    const std::int64_t shards = ways_with(&PlanAxis::splits_batch, plan.ways);
    const std::int64_t sequences = plan.batch.tokens / plan.batch.sequence;
    if (plan.batch.microbatches > 1 && sequences < shards * plan.batch.microbatches) {
        throw SettingError(
            plan.inference ? "inference.microbatches" : "training.microbatches",
            fmt::format("microbatches = {}, but {} sequences on data x fsdp x expert = {} shards "
                        "make at most {}",
                        plan.batch.microbatches, sequences, shards,
                        std::max<std::int64_t>(sequences / shards, 1)),
            plan.inference ? "use fewer microbatches or more sequences"
                           : "use fewer microbatches or more tokens");
    }
}

void check_prefetch(const TrainingPlan& plan) {
    if (!(plan.overlap.prefetch_layers >= 0 && plan.overlap.prefetch_layers <= kMostWays)) {
        throw SettingError(
            "overlap.prefetch_layers",
            fmt::format("prefetch_layers = {:g} is out of range", plan.overlap.prefetch_layers),
            fmt::format("allowed are 0 to {}", kMostWays));
    }
    if (plan.overlap.weights == WeightGroups::layer &&
        std::floor(plan.overlap.prefetch_layers) != plan.overlap.prefetch_layers) {
        throw SettingError(
            "overlap.prefetch_layers",
            fmt::format("prefetch_layers = {:g} of weights that are gathered by whole layers",
                        plan.overlap.prefetch_layers),
            "write a whole number, or gather them by block or matmul");
    }
}

void check_schedule(const TrainingPlan& plan) {
    if (plan.ways.pipeline == 1 && plan.pipeline.schedule != PipelineSchedule::one_f_one_b) {
        throw SettingError("training.schedule",
                           "schedule of a pipeline, but the mesh has no axis pipeline",
                           "add the axis, as in mesh: {pipeline: z, fsdp: x y}");
    }
}

void check_chunks(const TrainingPlan& plan) {
    const bool interleaved = plan.pipeline.schedule == PipelineSchedule::interleaved;
    if (interleaved != (plan.pipeline.chunks > 1)) {
        throw SettingError("training.chunks",
                           fmt::format("chunks = {} with the {} schedule", plan.pipeline.chunks,
                                       interleaved ? "interleaved" : "chosen"),
                           "interleaved needs two chunks or more, the others have one");
    }
}

/// Within a chunk chunked attention is full attention.
void check_attention_chunk(const TrainingPlan& plan, const ModelSpec& model) {
    if (model.chunk > 0 && plan.batch.sequence > model.chunk) {
        throw SettingError("batch.sequence",
                           fmt::format("sequence = {}, but {} attends within chunks of {} tokens",
                                       plan.batch.sequence, model.name, model.chunk),
                           "attention across chunks is not modelled: take shorter sequences");
    }
}

void check_stages(const TrainingPlan& plan, const ModelSpec& model) {
    const std::int64_t runs = static_cast<std::int64_t>(plan.ways.pipeline) * plan.pipeline.chunks;
    if (model.layers % runs != 0) {
        throw SettingError(
            "mesh.pipeline",
            fmt::format("{} = {} does not divide the {} layers of {} into equal runs",
                        plan.pipeline.chunks > 1 ? fmt::format("{} x chunks", axis::pipeline)
                                                 : axis::pipeline,
                        runs, model.layers, model.name),
            nearest_divisors(runs, model.layers));
    }
}

/// Layers of further tokens need the embedding, which the first stage has, beside the unembedding.
void check_further_tokens(const TrainingPlan& plan, const ModelSpec& model) {
    const auto refuse = [&](std::string_view beside, std::string_view instead) {
        throw SettingError("model.mtp_layers",
                           fmt::format("mtp_layers = {} {}", model.mtp_layers, beside),
                           std::string(instead));
    };
    if (model.mtp_layers == 0) {
        return;
    }
    if (plan.inference) {
        refuse("in inference", "layers of further tokens are those of training: leave it out");
    }
    if (plan.ways.pipeline > 1) {
        refuse(fmt::format("in a pipeline of {} stages", plan.ways.pipeline),
               "the last stage would need the first one's table, which is not modelled");
    }
    if (plan.ways.tensor_transpose > 1) {
        refuse("beside mesh.tensor_transpose", "their projection over it is not modelled");
    }
}

void check_interleaved(const TrainingPlan& plan) {
    if (plan.pipeline.schedule == PipelineSchedule::interleaved &&
        plan.batch.microbatches % plan.ways.pipeline != 0) {
        throw SettingError(
            "training.microbatches",
            fmt::format("microbatches = {} is not a multiple of pipeline = {}, which the "
                        "interleaved schedule needs",
                        plan.batch.microbatches, plan.ways.pipeline),
            nearest_multiples(plan.batch.microbatches, plan.ways.pipeline));
    }
}

void check_zero(const TrainingPlan& plan) {
    if (plan.zero > 0 && plan.ways.data == 1) {
        throw SettingError("training.zero",
                           fmt::format("zero = {} shards over data, but data = 1", plan.zero),
                           "leave it out; fsdp is ZeRO-3 already");
    }
}

void check_elements(const Precision& precision) {
    struct Element {
        std::string_view of;
        double bytes;
    };
    for (const Element element :
         {Element{"compute", precision.compute}, Element{"parameters", precision.parameters},
          Element{"gradients", precision.gradients},
          Element{"optimizer_moment", precision.optimizer_moment},
          Element{"logits", precision.logits}}) {
        if (!(element.bytes > 0 && element.bytes <= kWidestElement)) {
            throw SettingError(
                "training.precision",
                fmt::format("precision: {} B for one element of {}", element.bytes, element.of),
                fmt::format("allowed are more than 0 up to {} B", kWidestElement));
        }
    }
}

void check_tokens(const Batch& batch) {
    if (batch.tokens % batch.sequence != 0) {
        throw SettingError("batch.tokens",
                           fmt::format("tokens = {} is not a multiple of sequence = {}",
                                       batch.tokens, batch.sequence),
                           nearest_multiples(batch.tokens, batch.sequence));
    }
}

/// Checks the sizes that are independent of others.
void check_ranges(const TrainingPlan& plan, sim::InputFaults& faults) {
    const auto range = [&](const std::string& setting, std::int64_t value, std::int64_t least,
                           std::int64_t most) {
        faults.check(setting, {setting}, [&] { check_range(setting, value, least, most); });
    };
    range("batch.tokens", plan.batch.tokens, 1, kMostTokens);
    range("batch.sequence", plan.batch.sequence, 1, kMostTokens);
    for (const PlanAxis& row : kPlanAxes) {
        range(fmt::format("mesh.{}", row.name), plan.ways.*row.ways, 1, kMostWays);
    }
    range("training.microbatches", plan.batch.microbatches, 1, kMostWays);
    range("training.chunks", plan.pipeline.chunks, 1, kMostWays);
    faults.check("overlap.prefetch_layers", {"overlap.prefetch_layers", "overlap.weights"},
                 [&] { check_prefetch(plan); });
    range("overlap.fetch_layers", static_cast<std::int64_t>(plan.overlap.fetch_layers), 0,
          kMostWays);
    range("overlap.reductions_in_flight", plan.overlap.reductions_in_flight, 1, kMostWays);
    range("training.zero", plan.zero, 0, 2);
    range("training.logit_chunks", plan.logit_chunks, 1, kMostWays);
    range("overlap.collectives_in_flight", plan.overlap.collectives_in_flight, 0, kMostWays);
}

}  // namespace

void validate(const TrainingPlan& plan, const ModelSpec& model) {
    sim::InputFaults first;
    validate(plan, model, first);
}

void validate(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults) {
    faults.check("model", {"model"}, [&] { validate(model, faults); });
    check_ranges(plan, faults);
    faults.check("training.zero", {"training.zero", "mesh"}, [&] { check_zero(plan); });
    faults.check("training.precision", {"training.precision"},
                 [&] { check_elements(plan.precision); });
    faults.check("batch.tokens", {"batch.tokens", "batch.sequence"},
                 [&] { check_tokens(plan.batch); });
    check_inference(plan, model, faults);
    faults.check("batch.sequence", {"batch.sequence", "model"}, [&] {
        if (!plan.inference) {
            check_attention_chunk(plan, model);
        }
    });
    faults.check("mesh.tensor_transpose",
                 {"mesh.tensor_transpose", "mesh.tensor", "overlap.tensor", "model"},
                 [&] { check_tensor_transpose(plan, model); });
    faults.check("mesh.tensor", {"mesh.tensor", "mesh.tensor_transpose", "model"},
                 [&] { check_tensor(plan, model); });
    validate_experts(plan, model, faults);
    faults.check("training.placement", {"training.placement", "training.attention", "mesh"},
                 [&] { check_placement(plan); });
    faults.check(plan.inference ? "inference.prompt" : "batch.sequence",
                 {"batch.sequence", "inference", "training.placement", "training.attention",
                  "mesh.context", "mesh.tensor"},
                 [&] { check_sequence(plan); });
    faults.check(plan.inference ? "inference.microbatches" : "training.microbatches",
                 {"training.microbatches", "batch", "inference", "mesh"},
                 [&] { check_microbatches(plan); });
    faults.check("training.schedule", {"training.schedule", "mesh"}, [&] { check_schedule(plan); });
    faults.check("training.chunks", {"training.chunks", "training.schedule"},
                 [&] { check_chunks(plan); });
    faults.check("mesh.pipeline", {"mesh.pipeline", "training.chunks", "model"},
                 [&] { check_stages(plan, model); });
    faults.check("model.mtp_layers",
                 {"model.mtp_layers", "inference", "mesh.pipeline", "mesh.tensor_transpose"},
                 [&] { check_further_tokens(plan, model); });
    faults.check("training.microbatches",
                 {"training.microbatches", "training.schedule", "mesh.pipeline"},
                 [&] { check_interleaved(plan); });
    faults.check("training.remat", {"training.remat"}, [&] { check_remat(plan); });
}

}  // namespace podsim::workloads
