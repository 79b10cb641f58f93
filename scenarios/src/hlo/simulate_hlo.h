// Simulates the step of an HLO module on a machine and accounts for its time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/hlo/device_mesh.h"
#include "scenarios/src/hlo/hlo_request.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/link_use.h"
#include "scenarios/src/simulate/shares.h"
#include "scenarios/src/simulate/step_trail.h"
#include "sim/base/time.h"
#include "workloads/bounds/roofline.h"
#include "workloads/hlo/totals.h"

namespace podsim::scenarios {

/// All runs of one instruction.
struct InstructionTime {
    std::string name;
    double runs = 0;
    /// Time from begin to end, summed over all runs.
    sim::Time time;
    /// Time that the stream waits for a collective or a copy.
    sim::Time exposed;
    /// For a kernel the resource that decides its time; for a collective its operation and axes.
    std::string what{};
    /// JAX's name for the origin in the program.
    std::string op_name{};
    /// Bytes of all runs: of HBM, or of the complete arrays within groups.
    sim::Bytes bytes{};
};

struct HloResult {
    explicit HloResult(PlacedDevices placed) : devices(std::move(placed)) {}

    PlacedDevices devices;
    bool scheduled = false;
    bool fused = false;
    double open_permutes = 0;
    double ragged = 0;
    /// Permutes whose members podsim counts in another order than the mesh.
    double reordered_permutes = 0;
    /// Targets of custom calls of which only the bytes are known.
    std::vector<std::string> unknown_calls;
    /// Instructions of which only the bytes are known, with their number.
    std::map<std::string, double> unknown_opcodes;
    double left_out = 0;  ///< send and recv between devices
    /// Custom calls whose FLOPs and bytes are their own estimates.
    double estimated_calls = 0;
    /// Bytes that kernels send to other chips themselves.
    sim::Bytes remote;
    /// Collectives whose ids are beyond the counts of the module's header.
    double beyond_counts = 0;
    std::map<std::string, workloads::hlo::MatmulTotal> matmul_types;
    /// Number of matmuls, by type, for which the chip has no unit.
    std::map<std::string, double> in_bf16;
    std::size_t operations = 0;
    sim::Time step_time;
    sim::Time compute;
    /// Waits of the stream, by collective and axes.
    std::vector<Share> exposed;
    /// Sum of the waits: compute + exposed_total == step_time.
    sim::Time exposed_total;
    std::vector<Share> breakdown;
    /// Empty if it was not asked for or is too long.
    std::vector<Share> critical_path;
    /// Terms that add up to step_time - the bound (simulate/step_gap.h); empty like critical_path.
    std::vector<Share> gap;
    /// Null if it was not asked for or is too long.
    std::shared_ptr<const StepTrail> trail{};
    std::vector<InstructionTime> kernels;  ///< longest first
    /// Collectives and copies to the host, longest waits first.
    std::vector<InstructionTime> collectives;
    /// FLOPs of matmuls, attention and custom calls on one device.
    sim::Flops flops;
    double hfu = 0;
    workloads::LowerBound lower;
    sim::Seconds serial;
    std::vector<LinkUse> links;
    sim::Bytes arguments;  ///< parameters of the entry
    sim::Bytes capacity;   ///< of a chip's HBM
    std::uint64_t events = 0;
    std::uint64_t played_events = 0;
    int simulated_chips = 0;
};

/// Returns the module's step as a scenario for explanations and drawings: its machine and mesh,
/// without a model and a plan.
Scenario scenario_of(const HloRequest& request, const PlacedDevices& devices);

/// Throws sim::InputError, Stopped, and any exception of the watch.
HloResult simulate_hlo(const HloRequest& request, Watch* watch);

}  // namespace podsim::scenarios
