// The training plan of a scenario and the expectations on its result.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "collectives/algorithms/ring_steps.h"
#include "scenarios/load/load_parts.h"
#include "scenarios/spec/formulas.h"
#include "scenarios/text/quantity_text.h"
#include "scenarios/text/quote.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::scenarios {
namespace {

using workloads::MatmulDtype;
using workloads::Optimizer;
using workloads::PipelineSchedule;
using workloads::Placement;
using workloads::TrainingPlan;
using workloads::WeightGroups;

enum class TensorForm { blocking, one_way, two_way };
enum class ContextForm { gathered, ring };

constexpr std::pair<std::string_view, MatmulDtype> kPrecisions[] = {
    {"bf16", MatmulDtype::bf16}, {"int8", MatmulDtype::int8}, {"fp8", MatmulDtype::fp8}};
constexpr std::pair<std::string_view, double> kElements[] = {{"bf16", 2.0}, {"fp32", 4.0}};
constexpr std::pair<std::string_view, Optimizer> kOptimizers[] = {{"adam", Optimizer::adam},
                                                                  {"sgd", Optimizer::sgd}};
constexpr std::pair<std::string_view, std::uint32_t> kPriorities[] = {
    {"tensor", 0}, {"weights", 1}, {"gradients", 2}};
constexpr std::pair<std::string_view, PipelineSchedule> kSchedules[] = {
    {"gpipe", PipelineSchedule::gpipe},
    {"1f1b", PipelineSchedule::one_f_one_b},
    {"interleaved", PipelineSchedule::interleaved},
    {"zero_bubble", PipelineSchedule::zero_bubble}};
constexpr std::pair<std::string_view, bool> kParts[] = {{"all", false}, {"layers", true}};
constexpr std::pair<std::string_view, bool> kSteps[] = {{"train", false}, {"evaluate", true}};
constexpr std::pair<std::string_view, bool> kAttentions[] = {{"causal", true}, {"full", false}};
constexpr std::pair<std::string_view, Placement> kPlacements[] = {{"zig-zag", Placement::zig_zag},
                                                                  {"plain", Placement::plain}};
constexpr std::pair<std::string_view, WeightGroups> kWeightGroups[] = {
    {"layer", WeightGroups::layer},
    {"block", WeightGroups::block},
    {"matmul", WeightGroups::matmul}};
constexpr std::pair<std::string_view, bool> kLayerForms[] = {{"unrolled", false}, {"loop", true}};
constexpr std::pair<std::string_view, TensorForm> kTensorForms[] = {
    {"blocking", TensorForm::blocking},
    {"one-way", TensorForm::one_way},
    {"two-way", TensorForm::two_way}};

/// Where an error of workloads::validate belongs: its first word is the setting.
Reader place_of(const Reader& root, const sim::InputError& error) {
    const std::string setting = error.problem().substr(0, error.problem().find(' '));
    for (const std::string_view section : {"batch", "mesh", "overlap", "training", "model"}) {
        const Reader map = root[section];
        if (map.is_map() && map.node().find(setting) != nullptr) {
            return map[setting];
        }
    }
    const bool of_mesh = setting == "data" || setting == "fsdp" || setting == "context" ||
                         setting.starts_with("tensor") || setting == "expert" ||
                         setting == "pipeline";
    return root[of_mesh && root["mesh"].present() ? "mesh" : "batch"];
}

workloads::Precision read_precision(const Reader& training, const topology::ChipSpec& chip) {
    workloads::Precision precision;
    const Reader matmul = training["precision"];
    precision.matmul = matmul.choose<MatmulDtype>(kPrecisions, MatmulDtype::bf16);
    if (precision.matmul == MatmulDtype::fp8 && chip.fp8_flops.value.value() == 0) {
        throw matmul.error(fmt::format("{} has no fp8 matmuls", chip.name), "allowed: bf16, int8");
    }
    precision.parameters = training["parameters"].choose<double>(kElements, 2.0);
    precision.gradients = training["gradients"].choose<double>(kElements, 2.0);
    precision.optimizer_moment = training["moments"].choose<double>(kElements, 4.0);
    return precision;
}

/// `[tensor, weights, gradients]` in the order in which they go.
std::array<std::uint32_t, workloads::kPriorityClasses> read_priority(const Reader& list) {
    std::array<std::uint32_t, workloads::kPriorityClasses> places{0, 1, 2};
    if (!list.present()) {
        return places;
    }
    std::vector<std::uint32_t> order;
    for (const Reader& item : list.items()) {
        const std::uint32_t which = item.choose<std::uint32_t>(kPriorities, 0);
        if (std::ranges::find(order, which) != order.end()) {
            throw item.error(fmt::format("{} stands twice", in_quotes(item.node().text)),
                             "write each of tensor, weights, gradients once");
        }
        places[which] = static_cast<std::uint32_t>(order.size());
        order.push_back(which);
    }
    if (order.size() < places.size()) {
        throw list.error(fmt::format("{} of 3 classes", order.size()),
                         "write each of tensor, weights, gradients once");
    }
    return places;
}

sim::Bytes parse_bucket(const std::string& text) {
    const sim::Bytes bucket = parse_bytes(text);
    if (bucket < sim::Bytes(1e6)) {
        throw sim::InputError(fmt::format("{} is below 1 MB", in_quotes(text)),
                              "write a size such as 100 MB");
    }
    return bucket;
}

double parse_layers(const std::string& text) {
    constexpr double kMostLayers = 4096;
    const double layers = parse_number(text);
    if (layers < 0 || layers > kMostLayers) {
        throw sim::InputError(fmt::format("{} is out of range", in_quotes(text)),
                              fmt::format("allowed are 0 to {}", kMostLayers));
    }
    return layers;
}

void refuse_zero_3(const Reader& zero) {
    if (zero.present() && zero.node().text == "3") {
        throw zero.error("ZeRO-3 is the mesh axis fsdp", "write its ways as mesh.fsdp");
    }
}

constexpr std::pair<std::string_view, ContextForm> kContextForms[] = {
    {"gathered", ContextForm::gathered}, {"ring", ContextForm::ring}};

/// The ring steps of a logical axis of several members.
collectives::SteppedGather ring_steps(const Reader& form, const topology::DeviceMesh& mesh,
                                      const Hardware& hardware, const std::string& axis,
                                      bool two_way) {
    if (mesh.across({axis}).length > 1) {
        throw form.error(fmt::format("the axis {} has members in several slices, between which "
                                     "there are no ring steps",
                                     axis),
                         fmt::format("leave it out, or keep {} within a slice", axis));
    }
    try {
        return collectives::step_gather(hardware.slice, mesh.group({axis}), two_way);
    } catch (const sim::InputError& error) {
        throw form.located(error);
    }
}

/// Whether the ranks of an axis of one factor follow each other along it.
bool in_rank_order(const topology::DeviceMesh& mesh, const std::string& axis) {
    const topology::AxisFactor factor = mesh.group({axis}).front();
    for (int member = 0; member < factor.length; ++member) {
        if (mesh.rank(axis, topology::along(factor.axis, member * factor.stride), 0) != member) {
            return false;
        }
    }
    return true;
}

/// Ring attention: one ring, one way round.
collectives::SteppedGather attention_ring(const Reader& form, const topology::DeviceMesh& mesh,
                                          const Hardware& hardware,
                                          const workloads::ModelSpec& model, Placement placement,
                                          bool causal) {
    collectives::SteppedGather steps = ring_steps(form, mesh, hardware, "context", false);
    if (mesh.group({"context"}).size() > 1) {
        throw form.error("the axis context has several factors, along which there is no one ring",
                         "write gathered, or keep context on one axis");
    }
    const bool plain = placement == Placement::plain;
    if ((plain || model.window > 0) && !in_rank_order(mesh, "context")) {
        throw form.error(
            fmt::format("the ranks of context do not follow each other along its axis, which ring "
                        "attention {} needs",
                        plain ? "with plain placement" : "to a window of the last keys"),
            "write its outer factor first, as in x/2 x%2");
    }
    if (model.window > 0 && !causal) {
        throw form.error("ring attention to a window is there for causal attention alone",
                         "write gathered, or attention: causal");
    }
    return steps;
}

double parse_reference(const std::string& quantity, const std::string& text) {
    switch (find_quantity(quantity).unit) {
        case ValueUnit::time:
            return parse_time(text).value();
        case ValueUnit::share:
            return parse_percent(text);
        case ValueUnit::bytes:
            return parse_bytes(text).value();
        case ValueUnit::token_rate:
            return parse_token_rate(text);
        case ValueUnit::count:
        case ValueUnit::money:
        case ValueUnit::text:
        case ValueUnit::truth:
            break;
    }
    return parse_number(text);
}

}  // namespace

TrainingPlan read_plan(const Reader& root, const topology::DeviceMesh& mesh,
                       const Hardware& hardware, const workloads::ModelSpec& model) {
    const Reader batch = root["batch"].require();
    const Reader training = root["training"];
    const Reader overlap = root["overlap"];
    TrainingPlan plan;
    plan.batch.tokens = batch["tokens"].read(parse_count);
    plan.batch.sequence = batch["sequence"].read(parse_count);
    plan.ways.data = mesh.size("data");
    plan.ways.fsdp = mesh.size("fsdp");
    plan.ways.context = mesh.size("context");
    plan.ways.tensor = mesh.size("tensor");
    plan.ways.tensor_transpose = mesh.size("tensor_transpose");
    plan.ways.expert = mesh.size("expert");
    plan.ways.pipeline = mesh.size("pipeline");
    plan.experts.capacity_factor = training["capacity_factor"].get<double>(parse_multiple, 1);
    read_expert_imbalance(training["expert_imbalance"], mesh, model, plan);
    plan.attention.causal = training["attention"].choose<bool>(kAttentions, true);
    plan.attention.placement =
        training["placement"].choose<Placement>(kPlacements, Placement::zig_zag);
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
    plan.overlap.weights =
        overlap["weights"].choose<WeightGroups>(kWeightGroups, WeightGroups::layer);
    plan.overlap.layer_loop = overlap["layers"].choose<bool>(kLayerForms, false);
    plan.overlap.prefetch_layers = overlap["prefetch_layers"].get<double>(parse_layers, 1);
    plan.overlap.reductions_in_flight =
        static_cast<int>(overlap["reductions_in_flight"].whole(1, 4096, 2));
    refuse_zero_3(training["zero"]);
    plan.zero = static_cast<int>(training["zero"].whole(0, 2, 0));
    plan.overlap.bucket = overlap["bucket"].get<sim::Bytes>(parse_bucket, plan.overlap.bucket);
    plan.overlap.collectives_in_flight =
        static_cast<int>(overlap["collectives_in_flight"].whole(1, 4096, 0));
    plan.overlap.priority = read_priority(overlap["priority"]);
    // Where an axis has one member its form changes nothing: a sweep of meshes may have such settings.
    const Reader context = overlap["context"];
    if (context.choose<ContextForm>(kContextForms, ContextForm::gathered) == ContextForm::ring &&
        mesh.size("context") > 1) {
        plan.overlap.context_steps = attention_ring(
            context, mesh, hardware, model, plan.attention.placement, plan.attention.causal);
    }
    const auto tensor = overlap["tensor"].choose<TensorForm>(kTensorForms, TensorForm::blocking);
    if (tensor != TensorForm::blocking && mesh.size("tensor") > 1) {
        plan.overlap.tensor_steps =
            ring_steps(overlap["tensor"], mesh, hardware, "tensor", tensor == TensorForm::two_way);
    }
    try {
        workloads::validate(plan, model);
    } catch (const sim::InputError& error) {
        throw error.at(place_of(root, error).mark());
    }
    return plan;
}

std::vector<Expectation> read_expectations(const Reader& expect) {
    std::vector<Expectation> expectations;
    if (!expect.present()) {
        return expectations;
    }
    for (const YamlNode::Entry& entry : expect.node().entries) {
        const Reader place = expect[entry.key];
        Expectation expectation;
        expectation.quantity = entry.key;
        expectation.of = place["of"].read(
            [&](const std::string& text) { return parse_reference(entry.key, text); });
        if (expectation.of <= 0) {
            throw place["of"].error("a reference of zero has no relative error",
                                    "write a value above zero");
        }
        expectation.within = place["within"].read(parse_percent);
        expectation.source =
            place["source"].get<std::string>([](const std::string& text) { return text; }, "");
        expectations.push_back(std::move(expectation));
    }
    return expectations;
}

}  // namespace podsim::scenarios
