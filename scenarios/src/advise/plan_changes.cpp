#include "scenarios/src/advise/plan_changes.h"

#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "scenarios/src/scenario/training_step.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {
namespace {

using workloads::TensorSet;
using workloads::TrainingPlan;

struct RematChoice {
    const char* policy;
    const char* meaning;
};

/// The policies, from the one that keeps most to the one that keeps least.
constexpr RematChoice kRemat[] = {
    {"none", "nothing is computed twice"},
    {"minimal_with_context", "all matmuls' results and attention's are kept"},
    {"matmuls", "all matmuls' results are kept"},
    {"save_dot_with_context_except_mlp", "results of projections and attention are kept"},
    {"save_dot_except_mlp", "results of projections are kept"},
    {"save_qkv_proj", "queries, keys and values are kept"},
    {"full", "a layer's input alone is kept"},
};

TensorSet kept_by(std::string_view policy) {
    for (const auto& [name, remat] : workloads::remat_policies()) {
        if (name == policy) {
            return kept_tensors(remat);
        }
    }
    return {};
}

bool holds(const TensorSet& all, const TensorSet& some) {
    for (const workloads::LayerTensor tensor : workloads::kLayerTensors) {
        if (some.has(tensor) && !all.has(tensor)) {
            return false;
        }
    }
    return true;
}

/// The fate of a tensor between the forward and the backward pass, by increasing use of the HBM.
enum class Kept { dropped, offloaded, saved };

Kept kept_now(const workloads::RematNames& names, workloads::LayerTensor tensor) {
    return names.save.has(tensor)      ? Kept::saved
           : names.offload.has(tensor) ? Kept::offloaded
                                       : Kept::dropped;
}

/// Adds a change for each tensor that can be named: kept more, or nearer; if the step may not fit,
/// also kept less, or farther.
void add_remat_names(const workloads::ModelSpec& model, const TrainingPlan& plan, bool fits,
                     std::vector<PlanChange>& changes) {
    using workloads::LayerTensor;
    if (plan.remat.policy != workloads::RematPolicy::named) {
        return;
    }
    for (const LayerTensor tensor : workloads::kLayerTensors) {
        const Kept now = kept_now(plan.remat.names, tensor);
        for (const Kept then : {Kept::dropped, Kept::offloaded, Kept::saved}) {
            const bool input_dropped = tensor == LayerTensor::input && then != Kept::offloaded;
            if (then == now || input_dropped || (fits && then < now)) {
                continue;
            }
            workloads::Remat remat = plan.remat;
            remat.names.save.remove(tensor);
            remat.names.offload.remove(tensor);
            if (then != Kept::dropped) {
                (then == Kept::saved ? remat.names.save : remat.names.offload).add(tensor);
            }
            if (!never_read(model, remat.names).empty()) {
                continue;
            }
            const char* const how = then == Kept::saved       ? "stays in HBM"
                                    : then == Kept::offloaded ? "waits at the host"
                                                              : "is computed again";
            changes.push_back({"remat",
                               {fmt::format("training.remat={}", to_string(remat))},
                               fmt::format("{} {}", to_string(tensor), how)});
        }
    }
}

void add_remat(const TrainingPlan& plan, bool fits, std::vector<PlanChange>& changes) {
    const TensorSet now = kept_tensors(plan.remat);
    const bool runs_all_again = plan.remat.policy == workloads::RematPolicy::block;
    for (const RematChoice& choice : kRemat) {
        const TensorSet then = kept_by(choice.policy);
        const bool more = holds(then, now) && (then != now || runs_all_again);
        const bool less = holds(now, then) && then != now;
        if (more || (!fits && less)) {
            changes.push_back(
                {"remat", {fmt::format("training.remat={}", choice.policy)}, choice.meaning});
        }
    }
    if (!fits) {
        changes.push_back({"remat",
                           {"training.remat={offload: [decoder_layer_input]}"},
                           "layers' inputs wait at the host"});
    }
}

/// Gradients of more microbatches accumulate; fewer sequences are under way at a time.
void add_accumulation(const TrainingPlan& plan, std::vector<PlanChange>& changes) {
    for (const int microbatches : workloads::further_microbatches(plan.batch, plan.ways)) {
        changes.push_back({"microbatches",
                           {fmt::format("training.microbatches={}", microbatches)},
                           fmt::format("gradients of {} microbatches accumulate", microbatches)});
    }
}

void add_overlap(const TrainingPlan& plan, const StepResult& result, bool fits,
                 std::vector<PlanChange>& changes) {
    const workloads::Overlap& overlap = plan.overlap;
    if (plan.ways.tensor > 1 && !overlap.tensor_steps) {
        changes.push_back({"tensor overlap",
                           {"overlap.tensor=two-way"},
                           "tensor collectives in ring steps between parts of their matmuls"});
    }
    if (plan.ways.context > 1 && !overlap.context_steps) {
        changes.push_back({"context overlap",
                           {"overlap.context=ring"},
                           "keys and values go round under attention"});
    }
    if (overlap.schedule == workloads::SchedulePolicy::chain) {
        changes.push_back({"schedule",
                           {"overlap.schedule=latency_hiding"},
                           "operations ordered to hide latency, as XLA's scheduler does"});
    } else {
        changes.push_back({"schedule",
                           {"overlap.schedule=chain"},
                           "operations in the order of the program, without XLA's latency-hiding "
                           "scheduler"});
    }
    if (overlap.layer_loop) {
        changes.push_back({"layers",
                           {"overlap.layers=unrolled"},
                           "layers one after the other in the program, not turns of a loop"});
    }
    if (result.prefetch_layers >= overlap.prefetch_layers) {
        changes.push_back(
            {"prefetch",
             {fmt::format("overlap.prefetch_layers={:g}", overlap.prefetch_layers + 1)},
             "weights are gathered a layer further ahead"});
    }
    if (!fits && overlap.prefetch_layers > 0) {
        changes.push_back(
            {"prefetch", {"overlap.prefetch_layers=0"}, "weights are not gathered ahead"});
    }
    if (overlap.weights == workloads::WeightGroups::layer) {
        changes.push_back({"weights",
                           {"overlap.weights=block"},
                           "attention's weights and the MLP's are gathered apart"});
    }
    if (!fits && overlap.weights != workloads::WeightGroups::matmul) {
        changes.push_back(
            {"weights", {"overlap.weights=matmul"}, "each matrix is gathered on its own"});
    }
}

/// Adds kernels that compute the same: one instead of two for the gradients, and larger blocks,
/// whose scores (4 bytes each) take at most a quarter of a core's VMEM.
void add_attention(const TrainingPlan& plan, std::vector<PlanChange>& changes) {
    constexpr double kScoreBytes = 4;
    const workloads::SelfAttention& attention = plan.attention;
    if (attention.backward == workloads::BackwardKernels::split && !plan.forward_only) {
        changes.push_back({"attention kernel",
                           {"training.attention_backward=fused"},
                           "one kernel for all gradients of attention"});
    }
    for (const int side : {1024, 2048}) {
        const workloads::ScoreBlock block{static_cast<double>(side), static_cast<double>(side)};
        const double bytes = kScoreBytes * block.q * block.kv;
        const workloads::AttentionBlocks blocks{block, block, block};
        if (attention.blocks.any() && attention.blocks != blocks && side <= plan.batch.sequence &&
            4 * bytes <= attention.vmem.value()) {
            changes.push_back({"attention blocks",
                               {fmt::format("training.attention_blocks={}", side)},
                               fmt::format("attention in blocks of {} queries and keys", side)});
        }
    }
}

void add_pipeline(const TrainingPlan& plan, std::vector<PlanChange>& changes) {
    if (plan.ways.pipeline == 1) {
        return;
    }
    const workloads::Occupancy batch = workloads::occupancy(plan.batch, plan.ways);
    for (const int times : {2, 4}) {
        if (batch.sequences_per_shard >= times) {
            changes.push_back(
                {"microbatches",
                 {fmt::format("training.microbatches={}", plan.batch.microbatches * times)},
                 "smaller microbatches, a shorter bubble"});
        }
    }
    for (const auto& [name, schedule] :
         {std::pair{"1f1b", workloads::PipelineSchedule::one_f_one_b},
          std::pair{"zero_bubble", workloads::PipelineSchedule::zero_bubble}}) {
        if (plan.pipeline.schedule != schedule) {
            changes.push_back({"pipeline",
                               {fmt::format("training.schedule={}", name)},
                               "another order of passes in a stage"});
        }
    }
    for (const int chunks : {2, 4}) {
        changes.push_back(
            {"pipeline",
             {"training.schedule=interleaved", fmt::format("training.chunks={}", chunks)},
             fmt::format("{} runs of layers a stage", chunks)});
    }
}

}  // namespace

std::vector<PlanChange> plan_changes(const Scenario& scenario, const StepResult& result) {
    const TrainingPlan& plan = scenario.step().plan;
    std::vector<PlanChange> changes;
    if (plan.inference) {
        return changes;
    }
    const bool fits = result.memory.fits && !result.memory.tight;
    if (!plan.forward_only) {
        add_remat(plan, fits, changes);
        add_remat_names(scenario.step().model, plan, fits, changes);
        if (!fits && plan.ways.pipeline == 1) {
            add_accumulation(plan, changes);
        }
    }
    add_overlap(plan, result, fits, changes);
    add_attention(plan, changes);
    add_pipeline(plan, changes);
    if (plan.ways.context > 1 && plan.attention.placement == workloads::Placement::plain) {
        changes.push_back({"placement",
                           {"training.placement=zig-zag"},
                           "every rank of context has as much attention"});
    }
    return changes;
}

}  // namespace podsim::scenarios
