#include "scenarios/src/advise/memory_remedies.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <utility>

#include "scenarios/src/advise/inference_report.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/memory.h"
#include "sim/base/error.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using workloads::RematPolicy;
using workloads::TrainingPlan;
using workloads::WeightGroups;

/// A change to be tried, without its peak.
struct Change {
    std::string text;
    std::vector<std::string> set;
    TrainingPlan plan;
};

/// Moves layers' inputs to the host: beside named tensors, or instead of all else for a policy.
/// Returns false if they go there already.
bool offload_input(TrainingPlan& plan) {
    using workloads::LayerTensor;
    workloads::RematNames names;
    if (plan.remat.policy == RematPolicy::named) {
        names = plan.remat.names;
    }
    if (names.offload.has(LayerTensor::input)) {
        return false;
    }
    names.save.remove(LayerTensor::input);
    names.offload.add(LayerTensor::input);
    plan.remat.policy = RematPolicy::named;
    plan.remat.names = names;
    return true;
}

/// Returns the changes that need no more chips, in the order of their cost in time.
std::vector<Change> changes_of(const TrainingPlan& plan) {
    std::vector<Change> changes;
    const auto add = [&](const std::string& key, const std::string& value, auto&& edit) {
        changes.push_back(
            {fmt::format("{}: {}", key, value), {fmt::format("{}={}", key, value)}, plan});
        edit(changes.back().plan);
    };
    if (plan.overlap.weights != WeightGroups::matmul &&
        plan.ways.fsdp * plan.ways.context * plan.ways.expert > 1) {
        add("overlap.weights", "matmul",
            [](TrainingPlan& p) { p.overlap.weights = WeightGroups::matmul; });
    }
    if (plan.overlap.prefetch_layers > 0) {
        add("overlap.prefetch_layers", "0", [](TrainingPlan& p) { p.overlap.prefetch_layers = 0; });
    }
    if (plan.overlap.reductions_in_flight > 1) {
        add("overlap.reductions_in_flight", "1",
            [](TrainingPlan& p) { p.overlap.reductions_in_flight = 1; });
    }
    if (plan.precision.gradients > 2) {
        add("training.gradients", "bf16", [](TrainingPlan& p) { p.precision.gradients = 2; });
    }
    if (plan.remat.policy == RematPolicy::none) {
        add("training.remat", "matmuls",
            [](TrainingPlan& p) { p.remat.policy = RematPolicy::matmuls; });
    }
    if (kept_tensors(plan.remat) != workloads::TensorSet{workloads::LayerTensor::input}) {
        add("training.remat", "full", [](TrainingPlan& p) { p.remat = {}; });
    }
    if (TrainingPlan offloading = plan; offload_input(offloading)) {
        add("training.remat", to_string(offloading.remat),
            [&](TrainingPlan& p) { p = offloading; });
    }
    if (plan.ways.data > 1) {
        changes.push_back({"the data axis of the mesh as fsdp", {}, plan});
        workloads::Ways& ways = changes.back().plan.ways;
        ways.fsdp *= ways.data;
        ways.data = 1;
    }
    if (const workloads::Occupancy batch = workloads::occupancy(plan.batch, plan.ways);
        batch.sequences_per_shard > 1) {
        const std::int64_t tokens = batch.shards * plan.batch.sequence;
        add("batch.tokens", std::to_string(tokens),
            [&](TrainingPlan& p) { p.batch.tokens = tokens; });
        changes.back().text += " (one sequence a shard)";
    }
    return changes;
}

/// Returns changes to more microbatches, whose gradients accumulate.
std::vector<Change> accumulations(const TrainingPlan& plan) {
    std::vector<Change> changes;
    for (const int microbatches : workloads::further_microbatches(plan.batch, plan.ways)) {
        const std::string setting = fmt::format("training.microbatches={}", microbatches);
        changes.push_back(
            {fmt::format("training.microbatches: {}", microbatches), {setting}, plan});
        changes.back().plan.batch.microbatches = microbatches;
    }
    return changes;
}

/// Returns the same for a step of inference.
std::vector<Change> changes_of_inference(const TrainingPlan& plan) {
    std::vector<Change> changes;
    const auto add = [&](const std::string& key, const std::string& value, auto&& edit) {
        changes.push_back(
            {fmt::format("{}: {}", key, value), {fmt::format("{}={}", key, value)}, plan});
        edit(changes.back().plan);
    };
    if (plan.inference->cache_element > 1) {
        add("inference.kv_cache", "int8", [](TrainingPlan& p) { p.inference->cache_element = 1; });
    }
    if (plan.precision.parameters > 1) {
        add("inference.weights", "int8", [](TrainingPlan& p) { p.precision.store(1); });
    }
    if (plan.precision.parameters > 0.5) {
        add("inference.weights", "int4", [](TrainingPlan& p) { p.precision.store(0.5); });
    }
    if (plan.precision.parameters > 1 && plan.inference->cache_element > 1) {
        changes.push_back({"inference.weights and inference.kv_cache: int8",
                           {"inference.weights=int8", "inference.kv_cache=int8"},
                           plan});
        changes.back().plan.precision.store(1);
        changes.back().plan.inference->cache_element = 1;
    }
    return changes;
}

/// Returns changes to more chips, all of them on tensor, or on the cache's axis: 2, 4, ... 64 times
/// as many.
std::vector<Change> larger_tensor(const TrainingPlan& plan, int chips) {
    std::vector<Change> changes;
    for (int times = 2; times <= 64; times *= 2) {
        for (int workloads::Ways::*axis : {&workloads::Ways::tensor, &workloads::Ways::cache}) {
            TrainingPlan larger = plan;
            larger.ways.*axis *= times;
            changes.push_back(
                {fmt::format("{} {} ways instead of {} ({} chips)",
                             axis == &workloads::Ways::tensor ? "tensor" : "cache",
                             larger.ways.*axis, plan.ways.*axis, std::int64_t{chips} * times),
                 {},
                 larger});
        }
    }
    return changes;
}

/// Returns changes to more chips, all of them on fsdp: 2, 4, ... 64 times as many.
std::vector<Change> larger_slices(const TrainingPlan& plan, int chips) {
    std::vector<Change> changes;
    for (int times = 2; times <= 64; times *= 2) {
        TrainingPlan larger = plan;
        larger.ways.fsdp *= times;
        changes.push_back({fmt::format("fsdp {} ways instead of {} ({} chips)", larger.ways.fsdp,
                                       plan.ways.fsdp, std::int64_t{chips} * times),
                           {},
                           larger});
    }
    return changes;
}

/// Returns the peak of a changed plan; infinite if the model does not allow it.
sim::Bytes peak_of(const TrainingPlan& plan, const workloads::ModelSpec& model) {
    try {
        workloads::validate(plan, model);
        return workloads::peak_of_stages(model, plan);
    } catch (const sim::InputError&) {
        return sim::Bytes::infinity();
    }
}

/// Returns the same with the look-ahead that its run has: as requested if it fits `most`.
sim::Bytes peak_as_run(TrainingPlan plan, const workloads::ModelSpec& model, sim::Bytes most) {
    try {
        workloads::validate(plan, model);
        workloads::build_stages_that_fit(model, plan, most);
    } catch (const sim::InputError&) {
        return sim::Bytes::infinity();
    }
    return peak_of(plan, model);
}

/// Returns the plan that was simulated: its look-ahead has already been lowered to save memory.
TrainingPlan plan_in_force(const Scenario& scenario, const StepResult& result) {
    TrainingPlan plan = scenario.step().plan;
    plan.overlap.prefetch_layers = result.prefetch_layers;
    if (result.asked_fetch > 0) {
        plan.overlap.fetch_layers = result.fetch_layers;
    }
    return plan;
}

}  // namespace

sim::Bytes held_beyond_order(const Scenario& scenario, const StepResult& result) {
    const sim::Bytes in_order = peak_of(plan_in_force(scenario, result), scenario.step().model);
    return std::max(result.memory.peak - in_order, sim::Bytes(0));
}

Remedies memory_remedies(const Scenario& scenario, const StepResult& result) {
    if (result.memory.fits || result.remedies.has_value()) {
        return result.remedies.value_or(Remedies());
    }
    Remedies remedies = remedies_in_order(scenario, result);
    const sim::Bytes beyond = held_beyond_order(scenario, result);
    std::erase_if(remedies.each,
                  [&](const Remedy& one) { return one.peak + beyond > result.memory.capacity; });
    remedies.least_peak += beyond;
    return remedies;
}

Remedies remedies_in_order(const Scenario& scenario, const StepResult& result) {
    Remedies remedies;
    const TrainingPlan& plan = scenario.step().plan;
    const auto offer = [&](const Change& change) {
        const sim::Bytes peak =
            peak_as_run(change.plan, scenario.step().model, most_believed(result.memory.capacity));
        remedies.least_peak = std::min(remedies.least_peak, peak);
        if (peak > result.memory.capacity) {
            return false;
        }
        remedies.each.push_back({change.text, change.set, peak});
        return true;
    };
    for (const Change& change : plan.inference ? changes_of_inference(plan) : changes_of(plan)) {
        offer(change);
    }
    if (!plan.inference && !plan.forward_only) {
        for (const Change& change : accumulations(plan)) {
            if (offer(change)) {
                break;
            }
        }
    }
    if (plan.inference && plan.inference->runs.size() == 1) {
        if (const std::int64_t most = largest_batch(scenario); most > 0) {
            remedies.each.push_back({fmt::format("inference.batch: {}", most),
                                     {fmt::format("inference.batch={}", most)},
                                     peak_with_batch(scenario, most)});
        }
    }
    for (const Change& change :
         plan.inference ? larger_tensor(plan, result.chips) : larger_slices(plan, result.chips)) {
        if (offer(change)) {
            break;
        }
    }
    return remedies;
}

void add_remedies(Json& memory, const Scenario& scenario, const StepResult& result) {
    if (result.memory.fits) {
        return;
    }
    const Remedies remedies = memory_remedies(scenario, result);
    Json& list = memory["remedies"] = Json::array();
    for (const Remedy& one : remedies.each) {
        list.push_back({{"meaning", one.text},
                        {"set", one.set},
                        {"peak_bytes", one.peak.value()},
                        {"simulated", one.simulated}});
        if (one.simulated) {
            list.back()["step_time_s"] = decimal_seconds(one.step_time);
        }
    }
    if (remedies.each.empty() && remedies.least_peak < sim::Bytes::infinity()) {
        memory["least_peak_bytes"] = remedies.least_peak.value();
    }
}

}  // namespace podsim::scenarios
