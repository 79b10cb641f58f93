// Texts of an operation in a timeline: a name that is the same in every layer, its track, its
// arguments.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "scenarios/src/report/timeline.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/step_trail.h"
#include "topology/mesh/mesh.h"
#include "workloads/bounds/machine_rates.h"

namespace podsim::scenarios {

/// Returns the microbatch that the operation's name contains, else -1.
int microbatch_of(const workloads::Op& op);

/// `qkv`, `embedding lookup`, `AllGather weights`, `send activations`.
std::string short_name(const workloads::Op& op);

/// Returns the common property of operations of one colour: the pass of compute, the purpose of a
/// collective, `offload`.
std::string_view category_of(const workloads::Op& op);

/// Returns the name of its track, without a lane: `XLA Ops`, `AllGather over fsdp+context`, `Send`,
/// `Receive`, `Offload to host`.
std::string track_of(const workloads::Op& op);

class OpArguments {
public:
    /// Keeps references to its arguments. The scenario must be a step.
    OpArguments(const Scenario& scenario, const StepTrail& trail);

    /// Returns the operation's position in the step (`op`, `pass`, `layer`, `microbatch`), and for
    ///   compute      `flops`, `bytes` of HBM, `shapes`, `dtype`, and the resource that bounds it
    ///                (`bound`) with its time (`bound_us`)
    ///   a collective `bytes` (V), `group` and its `members`, `algorithm`, and `group_bound_us`,
    ///                the lower bound of any algorithm for the member that ends last; this chip may
    ///                end earlier
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
