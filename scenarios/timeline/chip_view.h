// One chip of a step, as its tracks are told of.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/explain/stream_account.h"
#include "scenarios/run/step_trail.h"
#include "scenarios/timeline/layers.h"
#include "scenarios/timeline/op_text.h"
#include "scenarios/timeline/timeline.h"

namespace podsim::scenarios {

/// The tracks of one process on their way to a sink, and where the slices of operations went.
class TrackLog {
public:
    TrackLog(TimelineSink& sink, std::size_t process, std::size_t operations)
        : sink_(sink), process_(process), of_op_(operations) {}

    void track(TrackKind kind, std::string name);
    void slice(const Slice& slice) { sink_.slice(slice); }
    /// That of an operation, from and to which flows lead.
    void slice(workloads::OpIndex op, const Slice& slice);

    /// End equal to start: the operation has no slice.
    [[nodiscard]] const Flow::End& of(workloads::OpIndex op) const { return of_op_[op]; }

private:
    TimelineSink& sink_;
    std::size_t process_;
    std::size_t tracks_ = 0;
    std::vector<Flow::End> of_op_;
};

/// The chip of a program that is told of: of the reported stage that which ended last, of others its partner (run/run_step.h).
struct ChipView {
    /// Keeps references to its arguments. `whole`: every operation is told of, not those of the steady windows alone.
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

    /// When an operation has a slice: of what is received, from when the sender let go.
    [[nodiscard]] Interval time_of(workloads::OpIndex op) const;
    /// Whether what is done then is told of operation by operation.
    [[nodiscard]] bool shows(Interval time) const;
    [[nodiscard]] Slice slice_of(workloads::OpIndex op) const;
    [[nodiscard]] Process process() const;
};

}  // namespace podsim::scenarios
