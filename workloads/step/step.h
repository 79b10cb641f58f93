// The training step of a plan, built.
#pragma once

#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/stop_check.h"
#include "workloads/plan/ranks.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// Builds the step of one chip. `plan` has been validated. `check` is called for every unit of the stage's order.
StepProgram build_step(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks = {},
                       const sim::StopCheck& check = {});
/// Those of the programs of build_stages, in their order: of every stage and of every member of an axis of unequal work.
std::vector<Ranks> ranks_of_programs(const ModelSpec& model, const TrainingPlan& plan);
/// One program for each of them.
StepPrograms build_stages(const ModelSpec& model, const TrainingPlan& plan,
                          const sim::StopCheck& check = {});

/// The peak of the chip that needs most, in program order.
sim::Bytes peak_of_stages(const ModelSpec& model, const TrainingPlan& plan,
                          const sim::StopCheck& check = {});

/// What recomputation executes on a chip, of the mean of all programs, for the tokens that there are: experts that are
/// padded, or do the work of the fullest, count with the mean load. `programs` are those of the plan.
sim::Flops mean_recomputed(const ModelSpec& model, const TrainingPlan& plan,
                           const StepPrograms& programs);

/// The look-ahead that the plan asks for, at most the number of uses of weights: beyond it a further one changes nothing.
double longest_prefetch(const ModelSpec& model, const TrainingPlan& plan);

/// The largest prefetch (at most that of the plan, at least 0) for which the program's memory
/// in program order stays within `capacity`; 0 when none does. Decided before the run. In steps of a layer, or of a
/// quarter where a layer's weights come in several pieces.
double prefetch_that_fits(const ModelSpec& model, const TrainingPlan& plan, sim::Bytes capacity,
                          const sim::StopCheck& check = {});

/// How far offloaded tensors come back ahead of their use at least where memory is short of room, not above what is asked for: half a
/// layer where a layer's weights come in several pieces, so that transfers begin within the layer before. (A scheduler that must keep to
/// its memory limit begins a transfer later, as long as compute hides it.) The fetch of the plan else, as memory cannot lower it.
inline constexpr double kLeastFetch = 0.5;
double shortest_fetch(const TrainingPlan& plan);

/// build_stages of the plan with the look-aheads that fit, which are written into it: first that of tensors from the host is lowered,
/// by whole layers and to kLeastFetch, then that of gathers (prefetch_that_fits).
StepPrograms build_stages_that_fit(const ModelSpec& model, TrainingPlan& plan, sim::Bytes capacity,
                                   const sim::StopCheck& check = {});

}  // namespace podsim::workloads
