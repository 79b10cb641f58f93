// Sequences of an inference step on its fullest chip.
//
// A sequence lies whole on one way of the axes that split the batch, and in one microbatch. If
// members of the axis `cache` split the batch, one of them keeps the sequence's cache and attends
// to it. Engines spread each kind of work over their ways (data-parallel attention). Collectives of
// all ways wait for the fullest, whose work every chip's program has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {

// Counts of the items on the fullest of several shards, for items that cannot be split: sequences
// of an inference step.
//
// Each of S shards has n / S of every n equal items. The remaining items are dealt out heaviest
// first, each to the shard with the least weight (of equals the first).

struct Items {
    std::int64_t count = 0;
    double weight = 0;   ///< of one item; items are dealt out by it
    double measure = 0;  ///< of one item; the fullest shard is found by it
};

/// Returns the number of items of each kind on the shard with the largest measure (of equals the
/// one with the most weight).
std::vector<std::int64_t> of_fullest_shard(std::span<const Items> kinds, std::int64_t shards);

struct PlacedRun {
    std::int64_t sequences = 0;  ///< on the fullest way of the batch, in one microbatch
    std::int64_t attended = 0;   ///< of these, on the fullest member of the axis `cache`
};

/// Returns the placement of every run. Sequences are weighed by 2 FLOPs for each parameter that a
/// new token meets, the FLOPs of their attention, and the reading of their cache. Chips read a
/// byte while they do 164 (v5p) to 560 (v6e) FLOPs. The value here is 300, which only decides
/// which chip is the fullest.
std::vector<PlacedRun> place_runs(const ModelSpec& model, const TrainingPlan& plan);

/// Returns the sequences of every run on the chip that keeps the most tokens, over all
/// microbatches. Each sequence has room for at least `reserved` tokens.
std::vector<std::int64_t> most_kept(const ModelSpec& model, const TrainingPlan& plan);

/// Returns occupancy(); for inference, the fraction of the work that is on new tokens
/// of real sequences.
Occupancy occupancy_of(const ModelSpec& model, const TrainingPlan& plan);

}  // namespace podsim::workloads
