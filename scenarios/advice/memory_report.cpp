#include "scenarios/advice/memory_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/advice/serving_fit.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/format.h"
#include "scenarios/text/table.h"
#include "sim/base/error.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"
#include "workloads/validation/validate_plan.h"

namespace podsim::scenarios {
namespace {

using workloads::RematPolicy;
using workloads::TrainingPlan;
using workloads::WeightGroups;

struct Change {
    std::string text;  ///< what to write in the scenario
    TrainingPlan plan;
};

/// Layers' inputs to the host: of named tensors beside them, of a policy instead of all else. False when they go
/// there already.
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

/// Changes that do not need more chips, in the order of what they cost in time.
std::vector<Change> changes_of(const TrainingPlan& plan) {
    std::vector<Change> changes;
    const auto add = [&](std::string text, auto&& edit) {
        changes.push_back({std::move(text), plan});
        edit(changes.back().plan);
    };
    if (plan.overlap.weights != WeightGroups::matmul &&
        plan.ways.fsdp * plan.ways.context * plan.ways.expert > 1) {
        add("overlap.weights: matmul",
            [](TrainingPlan& p) { p.overlap.weights = WeightGroups::matmul; });
    }
    if (plan.overlap.prefetch_layers > 0) {
        add("overlap.prefetch_layers: 0", [](TrainingPlan& p) { p.overlap.prefetch_layers = 0; });
    }
    if (plan.overlap.reductions_in_flight > 1) {
        add("overlap.reductions_in_flight: 1",
            [](TrainingPlan& p) { p.overlap.reductions_in_flight = 1; });
    }
    if (plan.precision.gradients > 2) {
        add("training.gradients: bf16", [](TrainingPlan& p) { p.precision.gradients = 2; });
    }
    if (plan.remat.policy == RematPolicy::none) {
        add("training.remat: matmuls",
            [](TrainingPlan& p) { p.remat.policy = RematPolicy::matmuls; });
    }
    if (kept_tensors(plan.remat) != workloads::TensorSet{workloads::LayerTensor::input}) {
        add("training.remat: full", [](TrainingPlan& p) { p.remat = {}; });
    }
    if (TrainingPlan offloading = plan; offload_input(offloading)) {
        add("training.remat: " + to_string(offloading.remat),
            [&](TrainingPlan& p) { p = offloading; });
    }
    if (plan.ways.data > 1) {
        add("the data axis of the mesh as fsdp", [](TrainingPlan& p) {
            p.ways.fsdp *= p.ways.data;
            p.ways.data = 1;
        });
    }
    if (const workloads::Occupancy batch = workloads::occupancy(plan.batch, plan.ways);
        batch.sequences_per_shard > 1) {
        const std::int64_t tokens = batch.shards * plan.batch.sequence;
        add(fmt::format("batch.tokens: {} (one sequence a shard)", tokens),
            [&](TrainingPlan& p) { p.batch.tokens = tokens; });
    }
    return changes;
}

/// The same of a step of inference.
std::vector<Change> changes_of_inference(const TrainingPlan& plan) {
    std::vector<Change> changes;
    const auto add = [&](std::string text, auto&& edit) {
        changes.push_back({std::move(text), plan});
        edit(changes.back().plan);
    };
    if (plan.inference->cache_element > 1) {
        add("inference.kv_cache: int8", [](TrainingPlan& p) { p.inference->cache_element = 1; });
    }
    if (plan.precision.parameters > 1) {
        add("inference.weights: int8", [](TrainingPlan& p) { p.precision.parameters = 1; });
    }
    if (plan.precision.parameters > 0.5) {
        add("inference.weights: int4", [](TrainingPlan& p) { p.precision.parameters = 0.5; });
    }
    if (plan.precision.parameters > 1 && plan.inference->cache_element > 1) {
        add("inference.weights and inference.kv_cache: int8", [](TrainingPlan& p) {
            p.precision.parameters = 1;
            p.inference->cache_element = 1;
        });
    }
    return changes;
}

/// More chips, all of them on tensor, or on the cache's axis: 2, 4, ... 64 times as many.
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
                 larger});
        }
    }
    return changes;
}

/// More chips, all of them on fsdp: 2, 4, ... 64 times as many.
std::vector<Change> larger_slices(const TrainingPlan& plan, int chips) {
    std::vector<Change> changes;
    for (int times = 2; times <= 64; times *= 2) {
        TrainingPlan larger = plan;
        larger.ways.fsdp *= times;
        changes.push_back({fmt::format("fsdp {} ways instead of {} ({} chips)", larger.ways.fsdp,
                                       plan.ways.fsdp, std::int64_t{chips} * times),
                           larger});
    }
    return changes;
}

/// The peak of a changed plan; infinite when the model does not allow it.
sim::Bytes peak_of(const TrainingPlan& plan, const workloads::ModelSpec& model) {
    try {
        workloads::validate(plan, model);
        return workloads::peak_of_stages(model, plan);
    } catch (const sim::InputError&) {
        return sim::Bytes::infinity();
    }
}

std::string remedies(const Scenario& scenario, const StepResult& result) {
    TrainingPlan plan = scenario.step().plan;
    plan.overlap.prefetch_layers =
        result.prefetch_layers;  // it has been lowered already to save memory
    std::string text;
    sim::Bytes least = sim::Bytes::infinity();
    const auto offer = [&](const Change& change) {
        const sim::Bytes peak = peak_of(change.plan, scenario.step().model);
        least = std::min(least, peak);
        if (peak > result.memory.capacity) {
            return false;
        }
        text += fmt::format("    {}: peak {}\n", change.text, format_bytes(peak));
        return true;
    };
    for (const Change& change : plan.inference ? changes_of_inference(plan) : changes_of(plan)) {
        offer(change);
    }
    if (plan.inference && plan.inference->runs.size() == 1) {
        if (const std::int64_t most = largest_batch(scenario); most > 0) {
            text += fmt::format("    inference.batch: {}\n", most);
        }
    }
    for (const Change& change :
         plan.inference ? larger_tensor(plan, result.chips) : larger_slices(plan, result.chips)) {
        if (offer(change)) {
            break;
        }
    }
    if (!text.empty()) {
        return "  each of these alone would make it fit:\n" + text;
    }
    return fmt::format("  no single change of {} would make it fit; the best reaches {}\n",
                       plan.inference ? "what is stored, batch or tensor ways"
                                      : "remat, overlap, batch or fsdp ways",
                       format_bytes(least));
}

}  // namespace

std::string memory_report(const Scenario& scenario, const StepResult& result) {
    const MemoryUse& memory = result.memory;
    Table table;
    std::string whose = memory.member;
    if (scenario.step().plan.ways.pipeline > 1) {
        whose = fmt::format("stage {}{}{}", memory.stage, whose.empty() ? "" : ", ", whose);
    }
    table.row({fmt::format("Memory of a chip {}{}at its peak", whose.empty() ? "" : "of ",
                           whose.empty() ? "" : whose + " "),
               "", "% of capacity"});
    const auto row = [&](std::string name, sim::Bytes bytes) {
        table.row({std::move(name), format_bytes(bytes),
                   fmt::format("{:.1f}", 100 * (bytes / memory.capacity))});
    };
    for (const auto& [name, bytes] : memory.at_peak) {
        if (bytes.value() > 0) {
            row("  " + name, bytes);
        }
    }
    row("  peak", memory.peak);
    row("  capacity", memory.capacity);
    if (memory.tight) {
        return table.text(0) +
               fmt::format(
                   "  tight: {} {}, less than the {:.0f} % of the capacity that "
                   "this account is true to\n",
                   format_bytes(memory.fits ? memory.capacity - memory.peak
                                            : memory.peak - memory.capacity),
                   memory.fits ? "to spare" : "too much", 100 * kMemoryBelief) +
               (memory.fits ? "" : remedies(scenario, result));
    }
    if (memory.fits) {
        return table.text(0) + fmt::format("  fits, with {} to spare\n",
                                           format_bytes(memory.capacity - memory.peak));
    }
    return table.text(0) +
           fmt::format("  does NOT fit: {} too much\n",
                       format_bytes(memory.peak - memory.capacity)) +
           remedies(scenario, result);
}

}  // namespace podsim::scenarios
