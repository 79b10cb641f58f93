// Serves a scenario's requests by its steps, for `podsim serve`, `compare` and `calibrate`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/client_request.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/serve/serving_run.h"
#include "scenarios/src/serve/step_times.h"
#include "scenarios/src/simulate/step_memory.h"
#include "workloads/plan/inference.h"

namespace podsim::scenarios {

// Times of the steps of a serving loop, each simulated on the scenario's chips.
//
// A shape becomes runs of the step (workloads/plan/inference.h). The decoding sequences have the
// mean of their caches, rounded; those with full windows are apart from the others. Every prompt
// part is by itself, equal ones together. Logits are those of the last token of each prompt that
// ends. Attention of single tokens is linear in their caches, both within a window and beyond it,
// so unequal ones together take the time of the mean.

/// Returns the runs of a step; empty for an empty step.
std::vector<workloads::CachedRun> runs_of(const StepShape& shape);

class SimulatedStepTimes final : public StepTimes {
public:
    /// The scenario must be a step of inference; its own runs are ignored. The loop accounts for
    /// the host's time between steps. `watch` can end a step's simulation, but is not notified of
    /// progress.
    explicit SimulatedStepTimes(const Scenario& scenario, Watch* watch = nullptr);

    /// Throws sim::InputError, at the scenario's file and with the cause, if a step leaves the
    /// clock's range.
    sim::Time time_of(const StepShape& shape) override;

private:
    Scenario scenario_;
    QuietWatch watch_;
    StepMemory memory_;
};

// Candidates for the step of a server that needs the most memory beside weights and caches: those
// with the most rows or the most logits.
//
// At most s sequences run at once: the slots, or fewer requests or clients. k tokens are drafted. c
// tokens of a sequence are computed: its prompt behind the cached prefix and, if a preempted one is
// computed again, its answer without the last token.
//   decode                 (1 + k) tokens of each of s sequences, as compiled (`padding`), and as
//                          many logits
//   static                 the prompts of a whole batch, the s longest
//   continuous             the longest prompt
//   chunked                `budget` tokens of s prompts, no more than they have
//   chunked, mixed         ... and those of a prompt beside s - 1 decodes
//   generate server        of disaggregated ones: the decode alone
// Prompts of one step count with their mean length.

/// Returns the steps of a server that holds caches. `again`: preempted sequences are recomputed.
std::vector<StepShape> largest_steps(const ServingSpec& spec, std::span<const Request> requests,
                                     bool again);

/// Returns the longest prompt of the requests, which a prefill server computes alone.
StepShape longest_prompt(const ServingSpec& spec, std::span<const Request> requests, bool again);

/// Returns the tokens, on all chips together, whose keys and values fit beside weights and buffers.
/// The buffers are those of the largest of `steps`, without caches. A token counts with all layers,
/// within their windows. Only the fraction `share` of the memory that programs may use is
/// available. 0 if weights and a step alone do not fit.
std::int64_t cached_tokens_that_fit(const Scenario& scenario, std::span<const StepShape> steps,
                                    double share);

/// Returns what a sequence keeps in the cache, as a step holds it (inference.h): beyond a window,
/// tokens have only the other layers. In a pipeline the figure is that of the stage with the most
/// for such tokens, relative to the stage with the most for a token.
KeptTokens kept_on_chips(const Scenario& scenario);

/// Serves the requests of a scenario with `serving`. Every step is simulated, on a grid or exactly.
/// Without pages in the file, a server has as many as its memory holds beside weights and steps.
/// Throws sim::InputError if that is not one, sim::TimeOverflow as the simulation does, and Stopped
/// if the watch ends it.
ServingRun serve_scenario(const Scenario& scenario, Watch* watch = nullptr);

/// Does the same with given step times, like those of SimulatedStepTimes, and without the grids'
/// errors.
ServingRun serve_scenario(const Scenario& scenario, StepTimes& steps);

/// Returns the scenario's spec with the number of cache pages; without one in the file, as many as
/// the memory holds. Throws sim::InputError if the memory is too small for the weights, a step, one
/// of the requests, or the pages in the file; the error is located at their key if there is one.
ServingSpec with_pages(const Scenario& scenario);

}  // namespace podsim::scenarios
