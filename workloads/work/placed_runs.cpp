#include "workloads/work/placed_runs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "workloads/models/kv_cache.h"
#include "workloads/plan/axes.h"

namespace podsim::workloads {
namespace {

/// Items on a shard of those that are left after the equal deal.
struct Left {
    double weight = 0;
    double measure = 0;
    std::vector<std::size_t> kinds;
};

constexpr double kFlopsPerByte = 300;

/// Returns the work of a sequence on all tensor ways together.
double work_of(const ModelSpec& model, const TrainingPlan& plan, const CachedRun& run) {
    const auto fresh = static_cast<double>(run.fresh);
    double work = 2 * static_cast<double>(count_parameters(model).active) * fresh;
    if (run.padding) {
        return work;
    }
    for (const auto& [kind, layers] : layer_kinds(model)) {
        const AttentionSizes sizes = attention_sizes(model, kind);
        const double window = kind.local ? static_cast<double>(model.window) : 0;
        const CachedScores scores = cached_scores(fresh, static_cast<double>(run.cached), window);
        const auto widths = static_cast<double>(2 * (sizes.head_dim + sizes.value_dim));
        work += static_cast<double>(layers) *
                (scores.pairs * static_cast<double>(model.heads) * widths +
                 scores.keys * cache_elements(model, kind) * plan.inference->cache_element *
                     kFlopsPerByte);
    }
    return work;
}

/// Returns the bytes that a sequence keeps.
double kept_of(const ModelSpec& model, const TrainingPlan& plan, const CachedRun& run) {
    const std::int64_t tokens = std::max(run.cached + run.fresh, plan.inference->reserved);
    return run.padding
               ? 0
               : cache_bytes(model, static_cast<double>(tokens), plan.inference->cache_element)
                     .value();
}

std::int64_t members_with_sequences(const TrainingPlan& plan) {
    return plan.inference->split == CacheSplit::batch ? plan.ways.cache : 1;
}

}  // namespace

std::vector<std::int64_t> of_fullest_shard(std::span<const Items> kinds, std::int64_t shards) {
    std::vector<std::int64_t> counts;
    std::vector<std::size_t> left;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        counts.push_back(kinds[kind].count / shards);
        left.insert(left.end(), static_cast<std::size_t>(kinds[kind].count % shards), kind);
    }
    std::ranges::stable_sort(
        left, [&](std::size_t a, std::size_t b) { return kinds[a].weight > kinds[b].weight; });
    // At most as many shards as there are items differ.
    std::vector<Left> of_shards(
        std::min(static_cast<std::size_t>(shards), std::max<std::size_t>(left.size(), 1)));
    for (const std::size_t kind : left) {
        Left& least = *std::ranges::min_element(of_shards, {}, &Left::weight);
        least.weight += kinds[kind].weight;
        least.measure += kinds[kind].measure;
        least.kinds.push_back(kind);
    }
    const Left& fullest = *std::ranges::max_element(
        of_shards, {}, [](const Left& one) { return std::pair(one.measure, one.weight); });
    for (const std::size_t kind : fullest.kinds) {
        ++counts[kind];
    }
    return counts;
}

std::vector<PlacedRun> place_runs(const ModelSpec& model, const TrainingPlan& plan) {
    std::vector<Items> items;
    for (const CachedRun& run : plan.inference->runs) {
        const double work = work_of(model, plan, run);
        items.push_back({run.sequences, work, work});
    }
    const std::vector<std::int64_t> here = of_fullest_shard(
        items, ways_with(&PlanAxis::splits_batch, plan.ways) * plan.batch.microbatches);
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i].count = here[i];
    }
    const std::vector<std::int64_t> attended =
        of_fullest_shard(items, members_with_sequences(plan));
    std::vector<PlacedRun> placed;
    for (std::size_t i = 0; i < items.size(); ++i) {
        placed.push_back({here[i], attended[i]});
    }
    return placed;
}

std::vector<std::int64_t> most_kept(const ModelSpec& model, const TrainingPlan& plan) {
    std::vector<Items> items;
    for (const CachedRun& run : plan.inference->runs) {
        items.push_back({run.sequences, work_of(model, plan, run), kept_of(model, plan, run)});
    }
    return of_fullest_shard(
        items, ways_with(&PlanAxis::splits_batch, plan.ways) * members_with_sequences(plan));
}

Occupancy occupancy_of(const ModelSpec& model, const TrainingPlan& plan) {
    Occupancy result = occupancy(plan.batch, plan.ways);
    if (!plan.inference) {
        return result;
    }
    const std::vector<PlacedRun> placed = place_runs(model, plan);
    double fullest = 0;
    double real = 0;
    result.sequences = result.sequences_per_shard = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const CachedRun& run = plan.inference->runs[i];
        if (!run.padding) {
            result.sequences += run.sequences;
            result.sequences_per_shard += placed[i].sequences;
            fullest += static_cast<double>(placed[i].sequences * run.fresh);
            real += static_cast<double>(run.sequences * run.fresh);
        }
    }
    result.occupied = real / (fullest * static_cast<double>(result.shards));
    result.tokens_per_chip_group = fullest / plan.ways.context;
    return result;
}

}  // namespace podsim::workloads
