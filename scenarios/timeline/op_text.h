// What a timeline says of an operation: a name that is the same in every layer, its track, its arguments.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "scenarios/run/step_trail.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/timeline/timeline.h"
#include "topology/mesh/mesh.h"
#include "workloads/analytic/machine_rates.h"

namespace podsim::scenarios {

/// Which microbatch an operation is of, where its name says one; else -1.
int microbatch_of(const workloads::Op& op);

/// `qkv`, `embedding lookup`, `AllGather weights`, `send activations`.
std::string short_name(const workloads::Op& op);

/// What operations of one colour have in common: the pass of compute, what a collective is for, `offload`.
std::string_view category_of(const workloads::Op& op);

/// The name of its track, without a lane: `XLA Ops`, `AllGather over fsdp+context`, `Send`, `Receive`, `Offload to host`.
std::string track_of(const workloads::Op& op);

class OpArguments {
public:
    /// Keeps references to its arguments, of a scenario that is a step.
    OpArguments(const Scenario& scenario, const StepTrail& trail);

    /// Where it stands in the step (`op`, `pass`, `layer`, `microbatch`), and of
    ///   compute      `flops`, `bytes` of HBM, `shapes`, `dtype`, what bounds it (`bound`) and for how long (`bound_us`)
    ///   a collective `bytes` (V), `group` and its `members`, `algorithm`, and the `group_bound_us` that no algorithm beats: of the
    ///                member that ends last, where this chip may end earlier
    ///   a transfer   `bytes`, and the stage at its other end (`peer`)
    [[nodiscard]] std::vector<Argument> of(std::size_t program, workloads::OpIndex op);

private:
    void add_compute(const workloads::Compute& work, std::vector<Argument>& arguments) const;
    void add_collective(std::size_t program, workloads::OpIndex index,
                        std::vector<Argument>& arguments);
    [[nodiscard]] sim::Seconds bound(const workloads::Collective& collective);

    using Key = std::tuple<collectives::Operation, std::vector<std::string>, double,
                           std::vector<double>, bool, int>;

    const StepTrail& trail_;
    const topology::DeviceMesh& mesh_;
    const AchievedHardware hardware_;
    const workloads::MachineRates rates_;
    std::map<Key, sim::Seconds> bounds_;
};

}  // namespace podsim::scenarios
