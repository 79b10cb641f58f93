#include "workloads/bounds/step_flops.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "workloads/models/kv_cache.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

/// Counting rules of a version.
struct Count {
    bool masked = true;   ///< half of the square
    bool windows = true;  ///< windows of local layers
    bool corner = true;   ///< queries at the start of a window see less
    bool further = true;  ///< layers of further tokens
};

Count count_of(FlopRule rule) {
    switch (rule) {
        case FlopRule::maxtext_unwindowed:
            return {.windows = false};
        case FlopRule::maxtext_2025:
            return {.corner = false, .further = false};
        case FlopRule::maxtext_2024:
            return {.masked = false, .corner = false, .further = false};
        case FlopRule::maxtext_2024_unwindowed:
            return {.masked = false, .windows = false, .corner = false, .further = false};
        default:
            return {};
    }
}

/// Returns the pairs of query and key, divided by the sequence.
double pairs(const ModelSpec& model, bool local, double sequence, const Count& count) {
    const double window = local && count.windows && model.window > 0
                              ? std::min(static_cast<double>(model.window), sequence)
                              : sequence;
    if (count.masked && count.corner) {
        return window - window * window / (2 * sequence);
    }
    return count.masked ? window / 2 : window;
}

double attention(const ModelSpec& model, LayerKind kind, double pairs_each) {
    const AttentionSizes sizes = attention_sizes(model, kind);
    return 6 * static_cast<double>(model.heads * (sizes.head_dim + sizes.value_dim)) * pairs_each;
}

/// Returns the training FLOPs of a token's attention to all tokens of its sequence, whatever mask
/// and window leave of them.
double all_scores(const ModelSpec& model, double sequence) {
    double flops = 0;
    const auto attend = [&](LayerKind kind, std::int64_t layers) {
        const AttentionSizes sizes = attention_sizes(model, kind);
        flops += static_cast<double>(layers) * 6 * sequence *
                 static_cast<double>(model.heads * (sizes.head_dim + sizes.value_dim));
    };
    for (const auto& [kind, layers] : layer_kinds(model)) {
        attend(kind, layers);
    }
    attend(layer_kind(model, model.layers), model.mtp_layers);
    return flops;
}

/// Returns the FLOPs of a token that the rule counts. Evaluation, and layers alone, run no layers
/// of further tokens.
double counted(ModelSpec model, const TrainingPlan& plan, FlopRule rule) {
    if (plan.forward_only || plan.layers_only) {
        model.mtp_layers = 0;
    }
    const FlopsPerToken masked =
        training_flops_per_token(model, plan.batch.sequence, plan.attention.causal);
    const ParameterCount count = count_parameters(model);
    const double outside =
        plan.layers_only ? 6 * static_cast<double>(count.total - count.layers) : 0;
    switch (rule) {
        case FlopRule::executed:
            return masked.executed() -
                   (plan.layers_only ? 6 * static_cast<double>(count.embedding) : 0);
        case FlopRule::parameters:
            return masked.parameters - outside;
        case FlopRule::masked_attention:
            return masked.parameters + masked.attention - outside;
        case FlopRule::full_attention:
            return masked.parameters - outside +
                   all_scores(model, static_cast<double>(plan.batch.sequence));
        default:
            break;
    }
    return maxtext_flops_per_token(model, plan.batch.sequence, rule) -
           (plan.layers_only ? 6 * static_cast<double>(count.embedding) : 0);
}

/// Returns the forward FLOPs of all runs of a step.
sim::Flops inference_flops(const ModelSpec& model, const Inference& inference, bool may_complete,
                           FlopRule rule) {
    const ParameterCount count = count_parameters(model);
    const auto tokens = static_cast<double>(inference.tokens());
    const double all = 2 * static_cast<double>(count.active) * tokens;
    if (rule == FlopRule::parameters) {
        return sim::Flops(all);
    }
    double attention = 0;
    for (const auto& [kind, number] : layer_kinds(model)) {
        const double window = kind.local ? static_cast<double>(model.window) : 0;
        const AttentionSizes sizes = attention_sizes(model, kind);
        for (const CachedRun& run : inference.runs) {
            const auto fresh = static_cast<double>(run.fresh);
            const auto cached = static_cast<double>(run.cached);
            CachedScores scores = cached_scores(fresh, cached, window);
            const CachedWidths widths = cached_widths(
                static_cast<double>(sizes.head_dim), static_cast<double>(sizes.value_dim),
                static_cast<double>(model.latent.kv_rank),
                static_cast<double>(model.latent.rope_dim), scores, fresh, may_complete);
            if (rule == FlopRule::full_attention) {
                scores.pairs = fresh * (cached + fresh);
            }
            attention += static_cast<double>(number * run.sequences * model.heads) *
                         (scores.pairs * 2 * (widths.key + widths.value) +
                          widths.completed * widths.of_completed);
        }
    }
    const double matmuls = 2 * (static_cast<double>(count.layers_matmul) * tokens +
                                static_cast<double>(count.embedding * inference.logits()));
    return sim::Flops((rule == FlopRule::executed ? matmuls : all) + attention);
}

}  // namespace

double maxtext_flops_per_token(const ModelSpec& model, std::int64_t sequence, FlopRule rule) {
    const Count count = count_of(rule);
    const auto length = static_cast<double>(sequence);
    const ParameterCount parameters = count_parameters(model);
    double flops = 6 * static_cast<double>(parameters.layers_matmul + parameters.embedding);
    for (const auto& [kind, layers] : layer_kinds(model)) {
        flops += static_cast<double>(layers) *
                 attention(model, kind, pairs(model, kind.local, length, count));
    }
    if (count.further) {
        const LayerKind last = layer_kind(model, model.layers - 1);
        flops += static_cast<double>(model.mtp_layers) *
                 (6 * static_cast<double>(count_layer(model, last).matmul()) +
                  attention(model, last, pairs(model, false, length, count)));
    }
    return flops;
}

sim::Flops PassFlops::total() const {
    sim::Flops sum;
    for (const sim::Flops flops : by_pass) {
        sum += flops;
    }
    return sum;
}

PassFlops flops_by_pass(const StepProgram& program) {
    PassFlops sums;
    for (const Op& op : program.ops) {
        if (const auto* work = std::get_if<Compute>(&op.work)) {
            sums.by_pass[static_cast<std::size_t>(op.pass)] += work->flops;
        }
    }
    return sums;
}

std::string_view to_string(FlopRule rule) {
    switch (rule) {
        case FlopRule::executed:
            return "executed";
        case FlopRule::parameters:
            return "6ND";
        case FlopRule::masked_attention:
            return "masked_attention";
        case FlopRule::full_attention:
            return "full_attention";
        case FlopRule::maxtext:
            return "maxtext";
        case FlopRule::maxtext_unwindowed:
            return "maxtext_unwindowed";
        case FlopRule::maxtext_2025:
            return "maxtext_2025";
        case FlopRule::maxtext_2024:
            return "maxtext_2024";
        case FlopRule::maxtext_2024_unwindowed:
            break;
    }
    return "maxtext_2024_unwindowed";
}

StepFlops step_flops(const ModelSpec& model, const TrainingPlan& plan, sim::Flops recomputed,
                     FlopRule rule) {
    if (plan.inference) {
        StepFlops sum;
        const bool may_complete = plan.ways.cache == 1;
        for (const Inference& step : steps_of(*plan.inference)) {
            sum.model += inference_flops(model, step, may_complete, rule);
            sum.hardware += inference_flops(model, step, may_complete, FlopRule::executed);
        }
        return sum;
    }
    const double tokens = static_cast<double>(plan.batch.tokens) / (plan.forward_only ? 3 : 1);
    StepFlops flops;
    flops.model = sim::Flops(tokens * counted(model, plan, rule));
    flops.hardware = sim::Flops(tokens * counted(model, plan, FlopRule::executed)) +
                     recomputed * (plan.ways.chips() * occupancy(plan.batch, plan.ways).occupied);
    return flops;
}

std::vector<CollectiveBytes> collective_bytes(const StepProgram& program) {
    std::map<std::tuple<int, Pass, Purpose>, sim::Bytes> sums;
    for (const Op& op : program.ops) {
        if (const auto* collective = std::get_if<Collective>(&op.work)) {
            const bool twice = collective->operation == collectives::Operation::all_reduce;
            sums[{op.layer, op.pass, collective->purpose}] += collective->bytes * (twice ? 2 : 1);
        }
    }
    std::vector<CollectiveBytes> rows;
    rows.reserve(sums.size());
    for (const auto& [key, bytes] : sums) {
        rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), bytes});
    }
    return rows;
}

}  // namespace podsim::workloads
