// `batch` and `training`: what is trained, and how it is sharded.
#include <string_view>

#include "scenarios/kernels/read_attention.h"
#include "scenarios/kernels/read_experts.h"
#include "scenarios/load/load_parts.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/quantity_text.h"
#include "workloads/models/setting_error.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::scenarios {
namespace {

using workloads::Optimizer;
using workloads::PipelineSchedule;
using workloads::TrainingPlan;

constexpr std::pair<std::string_view, double> kElements[] = {{"bf16", 2.0}, {"fp32", 4.0}};
constexpr std::pair<std::string_view, Optimizer> kOptimizers[] = {{"adam", Optimizer::adam},
                                                                  {"sgd", Optimizer::sgd}};
constexpr std::pair<std::string_view, PipelineSchedule> kSchedules[] = {
    {"gpipe", PipelineSchedule::gpipe},
    {"1f1b", PipelineSchedule::one_f_one_b},
    {"interleaved", PipelineSchedule::interleaved},
    {"zero_bubble", PipelineSchedule::zero_bubble}};
constexpr std::pair<std::string_view, bool> kParts[] = {{"all", false}, {"layers", true}};
constexpr std::pair<std::string_view, bool> kSteps[] = {{"train", false}, {"evaluate", true}};

/// Where the value of a setting of the plan stands, `mesh.tensor`. One that is left out is at fault together with the
/// mesh, or with the batch.
Reader place_of(const Reader& root, std::string_view setting) {
    const std::size_t dot = setting.find('.');
    const Reader section = root[setting.substr(0, dot)];
    const std::string_view key = setting.substr(dot + 1);
    if (section.is_map() && section.node().find(key) != nullptr) {
        return section[key];
    }
    return root[section.path() == "mesh" && section.present() ? "mesh" : "batch"];
}

workloads::Precision read_precision(const Reader& training, const topology::ChipSpec& chip) {
    workloads::Precision precision;
    precision.matmul = read_dtype(training["precision"], chip);
    precision.parameters = training["parameters"].choose<double>(kElements, 2.0);
    precision.gradients = training["gradients"].choose<double>(kElements, 2.0);
    precision.optimizer_moment = training["moments"].choose<double>(kElements, 4.0);
    return precision;
}

void refuse_zero_3(const Reader& zero) {
    if (zero.present() && zero.node().text == "3") {
        throw zero.error("ZeRO-3 is the mesh axis fsdp", "write its ways as mesh.fsdp");
    }
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
    read_experts(training, mesh, model, plan);
    plan.attention = read_attention(training);
    read_remat(training["remat"], model, plan);
    plan.optimizer = training["optimizer"].choose<Optimizer>(kOptimizers, Optimizer::adam);
    plan.precision = read_precision(training, hardware.chip);
    if (plan.optimizer == Optimizer::sgd &&
        plan.precision.optimizer_moment != workloads::Precision{}.optimizer_moment) {
        throw training["moments"].error("sgd keeps no moments", "leave it out");
    }
    plan.attention.vmem = hardware.chip.vmem.value / hardware.chip.cores.value;
    plan.batch.microbatches = static_cast<int>(training["microbatches"].whole(1, 1 << 20, 1));
    plan.pipeline.schedule =
        training["schedule"].choose<PipelineSchedule>(kSchedules, PipelineSchedule::one_f_one_b);
    plan.pipeline.chunks = static_cast<int>(training["chunks"].whole(1, 4096, 1));
    plan.forward_only = training["step"].choose<bool>(kSteps, false);
    plan.layers_only = training["parts"].choose<bool>(kParts, false);
    refuse_zero_3(training["zero"]);
    plan.zero = static_cast<int>(training["zero"].whole(0, 2, 0));
    read_overlap(root["overlap"], mesh, hardware, model, plan);
    try {
        workloads::validate(plan, model);
    } catch (const workloads::SettingError& error) {
        throw error.at(place_of(root, error.setting()).mark());
    }
    return plan;
}

}  // namespace podsim::scenarios
