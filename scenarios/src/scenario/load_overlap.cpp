// `overlap`: the operations that run beside others, and their form.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

#include "collectives/algorithms/ring_step_schedule.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/training_parts.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/plan/axis_names.h"

namespace podsim::scenarios {
namespace {

namespace axis = workloads::axis;
using workloads::Placement;
using workloads::WeightGroups;

enum class TensorForm { blocking, one_way, two_way };
enum class ContextForm { gathered, ring };

constexpr std::pair<std::string_view, std::uint32_t> kPriorities[] = {
    {axis::tensor, 0}, {"weights", 1}, {"gradients", 2}};
constexpr std::pair<std::string_view, WeightGroups> kWeightGroups[] = {
    {"layer", WeightGroups::layer},
    {"block", WeightGroups::block},
    {"matmul", WeightGroups::matmul}};
constexpr std::pair<std::string_view, bool> kLayerForms[] = {{"unrolled", false}, {"loop", true}};
constexpr std::pair<std::string_view, TensorForm> kTensorForms[] = {
    {"blocking", TensorForm::blocking},
    {"one-way", TensorForm::one_way},
    {"two-way", TensorForm::two_way}};

constexpr std::pair<std::string_view, ContextForm> kContextForms[] = {
    {"gathered", ContextForm::gathered}, {"ring", ContextForm::ring}};

constexpr std::pair<std::string_view, workloads::SchedulePolicy> kSchedulePolicies[] = {
    {"chain", workloads::SchedulePolicy::chain},
    {"latency_hiding", workloads::SchedulePolicy::latency_hiding}};
/// In the order of workloads::kAsyncKinds.
constexpr std::array<std::string_view, workloads::kAsyncKinds.size()> kAsyncKeys{
    "all_gather", "reduce_scatter", "all_reduce", "all_to_all"};

/// Reads `[tensor, weights, gradients]` in the order of priority.
void read_priority(const Reader& list,
                   std::array<std::uint32_t, workloads::kPriorityClasses>& places) {
    std::vector<std::uint32_t> order;
    for (const Reader& item : list.items()) {
        const std::uint32_t which = item.choose<std::uint32_t>(kPriorities, 0);
        if (item.sound() && std::ranges::find(order, which) != order.end()) {
            item.refuse(fmt::format("{} stands twice", in_quotes(item.node().text)),
                        "write each of tensor, weights, gradients once");
        }
        places[which] = static_cast<std::uint32_t>(order.size());
        order.push_back(which);
    }
    if (order.size() < places.size()) {
        throw list.error(fmt::format("{} of 3 classes", order.size()),
                         "write each of tensor, weights, gradients once");
    }
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

/// Returns the ring steps of a logical axis of several members.
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

/// True if the ranks of an axis of one factor follow each other along it.
bool in_rank_order(const topology::DeviceMesh& mesh, const std::string& axis) {
    const topology::AxisFactor factor = mesh.group({axis}).front();
    for (int member = 0; member < factor.length; ++member) {
        if (mesh.rank(axis, topology::along(factor.axis, member * factor.stride), 0) != member) {
            return false;
        }
    }
    return true;
}

/// Returns ring attention's steps: one ring in one direction.
collectives::SteppedGather attention_ring(const Reader& form, const topology::DeviceMesh& mesh,
                                          const Hardware& hardware,
                                          const workloads::ModelSpec& model, Placement placement,
                                          bool causal) {
    collectives::SteppedGather steps = ring_steps(form, mesh, hardware, axis::context, false);
    if (mesh.group({axis::context}).size() > 1) {
        throw form.error("the axis context has several factors, along which there is no one ring",
                         "write gathered, or keep context on one axis");
    }
    const bool plain = placement == Placement::plain;
    if ((plain || model.window > 0) && !in_rank_order(mesh, axis::context)) {
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

/// The form of an axis with one member changes nothing: a sweep of meshes may have these settings.
void read_forms(const Reader& overlap, const topology::DeviceMesh& mesh, const Hardware& hardware,
                const workloads::ModelSpec& model, workloads::TrainingPlan& plan) {
    const Reader context = overlap[axis::context];
    const auto form = context.choose<ContextForm>(kContextForms, ContextForm::gathered);
    context.check(
        {"mesh", "model", "training.placement", "training.attention", "training.attention_kernel"},
        [&] {
            if (form == ContextForm::ring && plan.attention.scores > 0) {
                throw context.error(
                    "ring attention is a flash kernel's, and attention_kernel is dot_product",
                    "write gathered, or attention_kernel: flash");
            }
            if (form == ContextForm::ring && mesh.size(axis::context) > 1) {
                plan.overlap.context_steps =
                    attention_ring(context, mesh, hardware, model, plan.attention.placement,
                                   plan.attention.causal);
            }
        });
    const Reader tensor = overlap[axis::tensor];
    const auto steps = tensor.choose<TensorForm>(kTensorForms, TensorForm::blocking);
    tensor.check({"mesh"}, [&] {
        if (steps != TensorForm::blocking && mesh.size(axis::tensor) > 1) {
            plan.overlap.tensor_steps =
                ring_steps(tensor, mesh, hardware, axis::tensor, steps == TensorForm::two_way);
        }
    });
}

}  // namespace

void read_overlap(const Reader& overlap, const topology::DeviceMesh& mesh, const Hardware& hardware,
                  const workloads::ModelSpec& model, workloads::TrainingPlan& plan) {
    plan.overlap.weights =
        overlap["weights"].choose<WeightGroups>(kWeightGroups, WeightGroups::layer);
    plan.overlap.layer_loop = overlap["layers"].choose<bool>(kLayerForms, false);
    plan.overlap.data_runs_on = mesh.size(axis::data) > 1 && mesh.across({axis::data}).length > 1;
    plan.overlap.prefetch_layers = overlap["prefetch_layers"].get<double>(parse_layers, 1);
    plan.overlap.fetch_layers = static_cast<double>(overlap["fetch_layers"].whole(0, 4096, 1));
    plan.overlap.reductions_in_flight =
        static_cast<int>(overlap["reductions_in_flight"].whole(1, 4096, 2));
    plan.overlap.bucket = overlap["bucket"].get<sim::Bytes>(parse_bucket, plan.overlap.bucket);
    plan.overlap.collectives_in_flight =
        static_cast<int>(overlap["collectives_in_flight"].whole(1, 4096, 0));
    if (const Reader priority = overlap["priority"]; priority.present()) {
        priority.check({}, [&] { read_priority(priority, plan.overlap.priority); });
    }
    plan.overlap.schedule = overlap["schedule"].choose<workloads::SchedulePolicy>(
        kSchedulePolicies, workloads::SchedulePolicy::chain);
    const Reader async = overlap["async"];
    async.check({"overlap.schedule"}, [&] {
        if (async.present() && plan.overlap.schedule == workloads::SchedulePolicy::chain) {
            throw async.error("the chain has no bounds by kind of collective",
                              "use it with overlap.schedule: latency_hiding");
        }
    });
    for (std::size_t kind = 0; kind < kAsyncKeys.size(); ++kind) {
        plan.overlap.async[kind] =
            static_cast<int>(async[kAsyncKeys[kind]].whole(0, 64, plan.overlap.async[kind]));
    }
    read_forms(overlap, mesh, hardware, model, plan);
}

}  // namespace podsim::scenarios
