#include "workloads/plan/validate_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/models/setting_error.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/padding.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_inference.h"

namespace podsim::workloads {
namespace {

constexpr std::int64_t kMostTokens = 1LL << 40;
constexpr std::int64_t kMostWays = 1LL << 20;
constexpr double kWidestElement = 16;  // bytes
constexpr double kMostLoad = 1024;     // of experts, over the mean

void check_range(std::string_view setting, std::int64_t value, std::int64_t least,
                 std::int64_t most) {
    if (value < least || value > most) {
        throw SettingError(
            std::string(setting),
            fmt::format("{} = {} is out of range", setting.substr(setting.rfind('.') + 1), value),
            fmt::format("allowed are {} to {}", least, most));
    }
}

std::string nearest_of(std::int64_t below, std::int64_t above) {
    if (below == 0 || above == 0) {
        return fmt::format("the nearest that works is {}", below + above);
    }
    return fmt::format("the nearest that work are {} and {}", below, above);
}

/// The multiples of `unit` next to `value`, as a remedy.
std::string nearest_multiples(std::int64_t value, std::int64_t unit) {
    const std::int64_t below = value / unit * unit;
    return nearest_of(below, below + unit);
}

/// The divisors of `number` next to `value`, as a remedy.
std::string nearest_divisors(std::int64_t value, std::int64_t number) {
    std::int64_t below = 1;
    std::int64_t above = 0;
    for (std::int64_t d = 1; d <= number && above == 0; ++d) {
        if (number % d == 0) {
            (d <= value ? below : above) = d;
        }
    }
    return nearest_of(below, above);
}

/// What is left to refuse: sizes that the ways do not divide are padded.
void check_tensor(const TrainingPlan& plan, const ModelSpec& model) {
    const int ways = plan.ways.of_matrix();
    const std::string setting = fmt::format(
        "{} = {}", fmt::join(axes_with(&PlanAxis::splits_matrices, plan.ways), " x "), ways);
    const ModelSpec wide =
        padded(model, plan.ways, plan.inference ? KeyHeads::repeated : KeyHeads::split);
    if (wide.heads % wide.kv_heads != 0) {
        throw SettingError("mesh.tensor",
                           fmt::format("{} pads the {} query heads of {} to {}, which its {} "
                                       "key/value heads do not divide",
                                       setting, model.heads, model.name, wide.heads, wide.kv_heads),
                           nearest_divisors(ways, model.heads));
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

void check_expert(const TrainingPlan& plan, const ModelSpec& model) {
    const std::int64_t experts = model.experts.count;
    if (plan.ways.expert > 1 && experts == 0) {
        throw SettingError(
            "mesh.expert",
            fmt::format("expert = {}, but {} has no experts", plan.ways.expert, model.name),
            "use the axis as fsdp");
    }
    if (experts > 0 && experts % plan.ways.expert != 0) {
        throw SettingError("mesh.expert",
                           fmt::format("expert = {} does not divide the {} experts of {}",
                                       plan.ways.expert, experts, model.name),
                           nearest_divisors(plan.ways.expert, experts));
    }
    for (const auto& [setting, value] :
         {std::pair<std::string_view, double>{"capacity_factor", plan.experts.capacity_factor},
          std::pair<std::string_view, double>{"expert_imbalance", plan.experts.imbalance}}) {
        if (!(value >= 1 && value <= kMostLoad)) {
            throw SettingError(fmt::format("training.{}", setting),
                               fmt::format("{} = {} is out of range", setting, value),
                               fmt::format("allowed are 1 to {}", kMostLoad));
        }
        if (value > 1 && experts == 0) {
            throw SettingError(
                fmt::format("training.{}", setting),
                fmt::format("{} = {}, but {} has no experts", setting, value, model.name),
                "leave it out");
        }
    }
    if (!plan.experts.loads.empty() && experts == 0) {
        throw SettingError("training.expert_imbalance",
                           fmt::format("expert_imbalance of {}, which has no experts", model.name),
                           "leave it out");
    }
    if (plan.ways.expert == 1 && (plan.experts.imbalance > 1 || !plan.experts.loads.empty())) {
        throw SettingError("training.expert_imbalance",
                           "expert_imbalance with expert = 1: every chip has all experts",
                           "leave it out, or add the axis expert");
    }
    if (!plan.experts.loads.empty() &&
        plan.experts.loads.size() != static_cast<std::size_t>(plan.ways.expert)) {
        throw SettingError("training.expert_imbalance",
                           fmt::format("expert_imbalance has {} shares, but expert = {}",
                                       plan.experts.loads.size(), plan.ways.expert),
                           "write one for each rank of the axis expert");
    }
    if (plan.experts.capacity_factor > 1 && (plan.experts.imbalance > 1 || plan.experts.uneven())) {
        throw SettingError("training.capacity_factor", "capacity_factor beside expert_imbalance",
                           "experts are either padded to a capacity or take what comes: keep one");
    }
}

void check_expert_path(const TrainingPlan& plan) {
    const bool dense = plan.moe.dense() || plan.moe.of_all();
    if (plan.moe.sparse() && plan.experts.capacity_factor > 1) {
        throw SettingError("training.capacity_factor",
                           "capacity_factor of sparse experts, which take what comes",
                           "leave it out, or write moe: {matmul: dense}");
    }
    if (dense && (plan.experts.imbalance > 1 || plan.experts.uneven())) {
        throw SettingError("training.expert_imbalance",
                           "expert_imbalance of dense experts, which all work on equal rows",
                           "leave it out, or write moe: {matmul: sparse}");
    }
    if (dense && plan.ways.context > 1) {
        throw SettingError(
            "mesh.context",
            fmt::format("context = {} with dense experts, whose places are of whole sequences",
                        plan.ways.context),
            "use the axis as fsdp, or write moe: {matmul: sparse}");
    }
    if (plan.moe.of_all() && (plan.ways.expert > 1 || plan.ways.of_matrix() > 1)) {
        throw SettingError(
            plan.ways.expert > 1 ? "mesh.expert" : "mesh.tensor",
            "dense experts without a capacity, which all work on all tokens of a chip",
            "write a capacity_factor, or use the axis as fsdp");
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
    // Rows of inference are complete on every tensor way.
    const std::int64_t shards =
        static_cast<std::int64_t>(plan.ways.context) * (plan.inference ? 1 : plan.ways.tensor);
    const std::int64_t unit = std::lcm(pieces, shards);
    if (plan.batch.sequence % pieces != 0) {
        throw SettingError(
            "batch.sequence",
            zigzag ? fmt::format("sequence = {} does not split into the 2 x context = {} equal "
                                 "pieces of the causal zig-zag placement",
                                 plan.batch.sequence, pieces)
                   : fmt::format("sequence = {} does not split over context = {}",
                                 plan.batch.sequence, pieces),
            nearest_multiples(plan.batch.sequence, unit));
    }
    if (plan.batch.sequence % shards != 0) {
        throw SettingError("batch.sequence",
                           fmt::format("sequence = {} does not split over context x tensor = {}",
                                       plan.batch.sequence, shards),
                           nearest_multiples(plan.batch.sequence, unit));
    }
}

void check_microbatches(const TrainingPlan& plan) {
    const std::int64_t shards = ways_with(&PlanAxis::splits_batch, plan.ways);
    const std::int64_t sequences = plan.batch.tokens / plan.batch.sequence;
    if (plan.batch.microbatches > 1 && sequences < shards * plan.batch.microbatches) {
        throw SettingError(
            "training.microbatches",
            fmt::format("microbatches = {}, but {} sequences on data x fsdp x expert = {} shards "
                        "make at most {}",
                        plan.batch.microbatches, sequences, shards,
                        std::max<std::int64_t>(sequences / shards, 1)),
            "use fewer microbatches or more tokens");
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

void check_pipeline(const TrainingPlan& plan, const ModelSpec& model) {
    const bool interleaved = plan.pipeline.schedule == PipelineSchedule::interleaved;
    if (plan.ways.pipeline == 1 && plan.pipeline.schedule != PipelineSchedule::one_f_one_b) {
        throw SettingError("training.schedule",
                           "schedule of a pipeline, but the mesh has no axis pipeline",
                           "add the axis, as in mesh: {pipeline: z, fsdp: x y}");
    }
    if (interleaved != (plan.pipeline.chunks > 1)) {
        throw SettingError("training.chunks",
                           fmt::format("chunks = {} with the {} schedule", plan.pipeline.chunks,
                                       interleaved ? "interleaved" : "chosen"),
                           "interleaved needs two chunks or more, the others have one");
    }
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
    if (interleaved && plan.batch.microbatches % plan.ways.pipeline != 0) {
        throw SettingError(
            "training.microbatches",
            fmt::format("microbatches = {} is not a multiple of pipeline = {}, which the "
                        "interleaved schedule needs",
                        plan.batch.microbatches, plan.ways.pipeline),
            nearest_multiples(plan.batch.microbatches, plan.ways.pipeline));
    }
}

}  // namespace

void validate(const TrainingPlan& plan, const ModelSpec& model) {
    validate(model);
    check_range("batch.tokens", plan.batch.tokens, 1, kMostTokens);
    check_range("batch.sequence", plan.batch.sequence, 1, kMostTokens);
    for (const PlanAxis& row : kPlanAxes) {
        check_range(fmt::format("mesh.{}", row.name), plan.ways.*row.ways, 1, kMostWays);
    }
    check_range("training.microbatches", plan.batch.microbatches, 1, kMostWays);
    check_range("training.chunks", plan.pipeline.chunks, 1, kMostWays);
    check_prefetch(plan);
    check_range("overlap.reductions_in_flight", plan.overlap.reductions_in_flight, 1, kMostWays);
    check_range("training.zero", plan.zero, 0, 2);
    check_range("training.logit_chunks", plan.logit_chunks, 1, kMostWays);
    check_range("overlap.collectives_in_flight", plan.overlap.collectives_in_flight, 0, kMostWays);
    if (plan.zero > 0 && plan.ways.data == 1) {
        throw SettingError("training.zero",
                           fmt::format("zero = {} shards over data, but data = 1", plan.zero),
                           "leave it out; fsdp is ZeRO-3 already");
    }
    struct Element {
        std::string_view of;
        double bytes;
    };
    for (const Element element : {Element{"compute", plan.precision.compute},
                                  Element{"parameters", plan.precision.parameters},
                                  Element{"gradients", plan.precision.gradients},
                                  Element{"optimizer_moment", plan.precision.optimizer_moment},
                                  Element{"logits", plan.precision.logits}}) {
        if (!(element.bytes > 0 && element.bytes <= kWidestElement)) {
            throw SettingError(
                "training.precision",
                fmt::format("precision: {} B for one element of {}", element.bytes, element.of),
                fmt::format("allowed are more than 0 up to {} B", kWidestElement));
        }
    }
    if (plan.batch.tokens % plan.batch.sequence != 0) {
        throw SettingError("batch.tokens",
                           fmt::format("tokens = {} is not a multiple of sequence = {}",
                                       plan.batch.tokens, plan.batch.sequence),
                           nearest_multiples(plan.batch.tokens, plan.batch.sequence));
    }
    check_inference(plan, model);
    check_tensor_transpose(plan, model);
    check_tensor(plan, model);
    check_expert(plan, model);
    check_expert_path(plan);
    check_placement(plan);
    check_sequence(plan);
    check_microbatches(plan);
    check_pipeline(plan, model);
    check_remat(plan);
}

}  // namespace podsim::workloads
