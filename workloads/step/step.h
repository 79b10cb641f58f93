// Builders of a plan's training step.
#pragma once

#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/stop_check.h"
#include "workloads/plan/ranks.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// Builds the step of one chip. `plan` has been validated. `check` is called for every unit of
/// the stage's order.
StepProgram build_step(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks = {},
                       const sim::StopCheck& check = {});
/// Returns the ranks of the programs of build_stages, in their order: of every stage and of every
/// member of an axis of unequal work.
std::vector<Ranks> ranks_of_programs(const ModelSpec& model, const TrainingPlan& plan);
/// Builds one program for each of these ranks.
StepPrograms build_stages(const ModelSpec& model, const TrainingPlan& plan,
                          const sim::StopCheck& check = {});

/// Returns the peak of the chip that needs most, in program order.
sim::Bytes peak_of_stages(const ModelSpec& model, const TrainingPlan& plan,
                          const sim::StopCheck& check = {});

/// Returns the FLOPs that recomputation executes on a chip, in the mean over all programs, for the
/// real tokens. Experts that are padded, or do the work of the fullest, count with the mean load.
/// `programs` are those of the plan.
sim::Flops mean_recomputed(const ModelSpec& model, const TrainingPlan& plan,
                           const StepPrograms& programs);

/// Returns the look-ahead of the plan, at most the number of uses of weights: a longer
/// one changes nothing.
double longest_prefetch(const ModelSpec& model, const TrainingPlan& plan);

/// Returns the largest prefetch (at most that of the plan, at least 0) for which the program's
/// memory in program order stays within `capacity`; 0 if none does. It is decided before the run,
/// in steps of a layer, or of a quarter if a layer's weights come in several groups.
double prefetch_that_fits(const ModelSpec& model, const TrainingPlan& plan, sim::Bytes capacity,
                          const sim::StopCheck& check = {});

/// Minimum in layers by which offloaded tensors come back ahead of their use if memory is short,
/// but not above the plan's. It is half a layer if a layer's weights come in several groups, so
/// that transfers begin within the layer before. (A scheduler that must keep to its memory limit
/// begins a transfer later, as long as compute hides it.) Otherwise it is the fetch of the plan, as
/// memory cannot lower it.
inline constexpr double kLeastFetch = 0.5;
double shortest_fetch(const TrainingPlan& plan);

/// Runs build_stages with the look-aheads that fit, and writes them into the plan. First that of
/// tensors from the host is lowered, by whole layers and to kLeastFetch, then that of gathers
/// (prefetch_that_fits).
StepPrograms build_stages_that_fit(const ModelSpec& model, TrainingPlan& plan, sim::Bytes capacity,
                                   const sim::StopCheck& check = {});

}  // namespace podsim::workloads
