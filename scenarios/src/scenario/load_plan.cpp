// `batch` and `training`: the work that is trained, and its sharding.
#include <fmt/format.h>
#include <string_view>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/scenario/read_attention.h"
#include "scenarios/src/scenario/read_experts.h"
#include "scenarios/src/scenario/training_parts.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::scenarios {
namespace {

using workloads::GradientReduction;
using workloads::Optimizer;
using workloads::PipelineSchedule;
using workloads::TrainingPlan;

constexpr std::pair<std::string_view, Optimizer> kOptimizers[] = {
    {"adam", Optimizer::adam},
    {"lion", Optimizer::lion},
    {"adafactor", Optimizer::adafactor},
    {"sgd", Optimizer::sgd}};
constexpr std::pair<std::string_view, bool> kYesNo[] = {{"true", true}, {"false", false}};
constexpr std::pair<std::string_view, PipelineSchedule> kSchedules[] = {
    {"gpipe", PipelineSchedule::gpipe},
    {"1f1b", PipelineSchedule::one_f_one_b},
    {"interleaved", PipelineSchedule::interleaved},
    {"zero_bubble", PipelineSchedule::zero_bubble}};
constexpr std::pair<std::string_view, GradientReduction> kReductions[] = {
    {"each", GradientReduction::each},
    {"data_once", GradientReduction::data_once},
    {"once", GradientReduction::once}};
constexpr std::pair<std::string_view, bool> kParts[] = {{"all", false}, {"layers", true}};
constexpr std::pair<std::string_view, bool> kStepKinds[] = {{"train", false}, {"evaluate", true}};

void refuse_zero_3(const Reader& zero) {
    if (zero.present() && zero.node().text == "3") {
        zero.refuse("ZeRO-3 is the mesh axis fsdp", "write its ways as mesh.fsdp");
    }
}

/// Returns the reduction of gradients. The default is that of XLA's automatic sharding on TPUs.
/// Gradients of microbatches (a loop) are reduced where they are made. The pass
/// while-loop-all-reduce-code-motion moves an AllReduce behind the loop if its result is only added
/// to a sum. The AllReduce of a layer in a loop of layers goes into a stack of all layers' instead,
/// and stays. A ReduceScatter stays too (moving it is an option of XLA's for GPUs). Pipelines,
/// whose loop over microbatches has a stage's layers one by one, are of the first kind.
/// Source: openxla/xla, xla/service/while_loop_all_reduce_code_motion.cc (IsAllReduceMovable); TPUs
/// run it by default: openxla/xla#49143.
GradientReduction read_reduction(const Reader& key, const TrainingPlan& plan) {
    const bool stacked = plan.overlap.layer_loop && plan.ways.pipeline == 1;
    const auto read = key.choose<GradientReduction>(
        kReductions, stacked ? GradientReduction::each : GradientReduction::data_once);
    key.check({"training.zero"}, [&] {
        if (key.present() && plan.zero == 2 && read != GradientReduction::each) {
            key.refuse("zero: 2 scatters the gradients of every microbatch over data",
                       "leave it out, or write each, or zero: 1");
        }
    });
    return read;
}

}  // namespace

TrainingPlan read_plan(const Reader& root, const topology::DeviceMesh& mesh,
                       const Hardware& hardware, const workloads::ModelSpec& model) {
    const Reader batch = root["batch"].require();
    const Reader training = root["training"];
    TrainingPlan plan;
    plan.batch.tokens = batch["tokens"].read(parse_count);
    plan.batch.sequence = batch["sequence"].read(parse_count);
    plan.ways = workloads::ways_of(mesh);
    plan.logit_chunks = static_cast<int>(training["logit_chunks"].whole(1, 1 << 20, 1));
    read_experts(training, mesh, model, plan);
    plan.attention = read_attention(training);
    read_remat(training["remat"], model, plan);
    plan.optimizer = training["optimizer"].choose<Optimizer>(kOptimizers, Optimizer::adam);
    plan.precision = read_precision(training, hardware.chip, plan.moe);
    plan.clips_gradients = training["clip_gradients"].choose<bool>(kYesNo, false);
    training["moments"].check({"training.optimizer"}, [&] {
        if (moments_of(plan.optimizer) == 0 &&
            plan.precision.optimizer_moment != workloads::Precision{}.optimizer_moment) {
            throw training["moments"].error(
                fmt::format("{} keeps no moments", to_string(plan.optimizer)), "leave it out");
        }
        const auto dtypes = static_cast<double>(training["moments"].items().size());
        if (dtypes > 1 && dtypes != moments_of(plan.optimizer)) {
            throw training["moments"].error(
                fmt::format("{:.0f} dtypes, and {} has {:.0f} moment{}", dtypes,
                            to_string(plan.optimizer), moments_of(plan.optimizer),
                            moments_of(plan.optimizer) == 1 ? "" : "s"),
                "write one dtype for all, or one for each");
        }
    });
    plan.moe.devices = hardware.chip.devices.value;
    plan.moe.cores = hardware.chip.cores.value;
    plan.attention.cores = hardware.chip.cores.value;
    plan.attention.vmem = hardware.chip.vmem.value / hardware.chip.cores.value;
    plan.batch.microbatches = static_cast<int>(training["microbatches"].whole(1, 1 << 20, 1));
    plan.pipeline.schedule =
        training["schedule"].choose<PipelineSchedule>(kSchedules, PipelineSchedule::one_f_one_b);
    plan.pipeline.chunks = static_cast<int>(training["chunks"].whole(1, 4096, 1));
    plan.forward_only = training["step"].choose<bool>(kStepKinds, false);
    plan.layers_only = training["parts"].choose<bool>(kParts, false);
    refuse_zero_3(training["zero"]);
    plan.zero = static_cast<int>(training["zero"].whole(0, 2, 0));
    read_overlap(root["overlap"], mesh, hardware, model, plan);
    plan.reduction = read_reduction(training["gradient_reduction"], plan);
    workloads::validate(plan, model, root.faults());
    return plan;
}

}  // namespace podsim::scenarios
