// Which sequences of a step of inference its fullest chip has.
//
// A sequence lies on one way of the axes that split the batch, whole, and in one microbatch; where members of the axis `cache` split the
// batch, one of them keeps its cache and attends to it. Engines spread each kind of work over their ways (data-parallel attention), and
// collectives of all ways wait for the fullest, whose work every chip's program has.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {

struct PlacedRun {
    std::int64_t sequences = 0;  ///< on the fullest way of the batch, of a microbatch
    std::int64_t attended = 0;   ///< of them on the fullest member of the axis `cache`
};

/// Of every run, by what a sequence takes: 2 FLOPs for each parameter that a new token meets, those of its attention, and what its cache
/// takes to be read. Chips read a byte while they do 164 (v5p) to 560 (v6e) FLOPs: 300 here, which decides no more than who is the fullest.
std::vector<PlacedRun> place_runs(const ModelSpec& model, const TrainingPlan& plan);

/// Sequences of every run that the chip keeps which keeps the most tokens, of all microbatches. With room for at least `reserved` each.
std::vector<std::int64_t> most_kept(const ModelSpec& model, const TrainingPlan& plan);

/// As occupancy(), of inference the share of the work that is on real sequences' new tokens.
Occupancy occupancy_of(const ModelSpec& model, const TrainingPlan& plan);

}  // namespace podsim::workloads
