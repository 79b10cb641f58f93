// One chip of a step, as its tracks show it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/src/report/op_text.h"
#include "scenarios/src/report/timeline.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/step_trail.h"
#include "scenarios/src/simulate/stream_account.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Consecutive compute operations of one pass over one layer (or end of the model) for one
/// microbatch.
struct LayerPass {
    /// `forward`, `recompute`, `backward`, `optimizer`, `embedding`, `unembedding`
    std::string name;
    workloads::Pass pass{};
    int layer = -1;
    /// -1 if the step has only one.
    int microbatch = -1;
    /// Beginning of the first operation.
    sim::Time from;
    /// End of the last operation.
    sim::Time until;
};

/// Returns the passes in order of time.
std::vector<LayerPass> layer_passes(const workloads::StepProgram& program, const ChipRun& chip);

/// Returns a forward pass over a layer, and a backward pass with its recomputation, each from the
/// middle of the step. A window begins at the end of the pass before, so it contains waits for its
/// first operation. A step without layers has none.
std::vector<SteadyWindow> steady_windows(const std::vector<LayerPass>& passes);

/// The tracks of one process on their way to a sink; remembers the slice of each operation.
class TrackLog {
public:
    TrackLog(TimelineSink& sink, std::size_t process, std::size_t operations)
        : sink_(sink), process_(process), of_op_(operations) {}

    void track(TrackKind kind, std::string name);
    void slice(const Slice& slice) { sink_.slice(slice); }
    /// Emits the slice of an operation, from and to which flows may lead.
    void slice(workloads::OpIndex op, const Slice& slice);

    /// Returns the slice of an operation. Its end equals its start if there is none.
    [[nodiscard]] const Flow::End& of(workloads::OpIndex op) const { return of_op_[op]; }

private:
    TimelineSink& sink_;
    std::size_t process_;
    std::size_t tracks_ = 0;
    std::vector<Flow::End> of_op_;
};

/// The chip that stands for a program in the timeline: for the reported stage the one that ended
/// last, for other stages its partner (run_step.h).
struct ChipView {
    /// Keeps references to its arguments. `whole` shows every operation, not only those of the
    /// steady windows.
    ChipView(const Scenario& scenario, const StepTrail& trail, std::size_t number, bool whole,
             OpArguments& arguments);

    const Scenario& scenario;
    const StepTrail& trail;
    std::size_t number;  ///< of the program
    bool whole;
    OpArguments& arguments;
    const workloads::StepProgram& program;
    const ChipRun& chip;
    std::vector<LayerPass> passes;
    std::vector<SteadyWindow> windows;

    /// Returns the interval of an operation's slice. A receive begins when the sender sent.
    [[nodiscard]] Interval time_of(workloads::OpIndex op) const;
    /// True if the operations of that time are shown one by one.
    [[nodiscard]] bool shows(Interval time) const;
    [[nodiscard]] Slice slice_of(workloads::OpIndex op) const;
    [[nodiscard]] Process process() const;
};

}  // namespace podsim::scenarios
