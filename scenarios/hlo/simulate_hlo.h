// An HLO module's step on a machine, and where its time goes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/explain/link_use.h"
#include "scenarios/explain/shares.h"
#include "scenarios/hlo/device_mesh.h"
#include "scenarios/hlo/hlo_request.h"
#include "scenarios/run/step_trail.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"
#include "sim/base/time.h"
#include "workloads/hlo_totals/totals.h"
#include "workloads/roofline/roofline.h"

namespace podsim::scenarios {

/// All runs of one instruction.
struct InstructionTime {
    std::string name;
    double runs = 0;
    sim::Time time;     ///< from when it begins to when it has ended, of all runs
    sim::Time exposed;  ///< of a collective or a copy: what the stream waits for it
    /// Of a kernel what decides its time, of a collective its operation and axes.
    std::string what{};
    std::string op_name{};  ///< where the program has it from, JAX's name
    sim::Bytes bytes{};     ///< of all runs: of HBM, or of the complete arrays within groups
};

struct HloResult {
    explicit HloResult(PlacedDevices placed) : devices(std::move(placed)) {}

    PlacedDevices devices;
    bool scheduled = false;
    bool fused = false;
    double open_permutes = 0;
    double ragged = 0;
    double reordered_permutes = 0;  ///< whose members podsim counts in another order than the mesh
    std::vector<std::string> unknown_calls;         ///< targets of which only the bytes are known
    std::map<std::string, double> unknown_opcodes;  ///< the same of instructions, how many
    double left_out = 0;                            ///< send and recv between devices
    double estimated_calls = 0;  ///< custom calls whose FLOPs and bytes are their own estimate
    sim::Bytes remote;           ///< that kernels send to other chips themselves
    double beyond_counts = 0;    ///< collectives whose ids the module's header does not have
    std::map<std::string, workloads::hlo::MatmulTotal> matmul_types;
    std::map<std::string, double> in_bf16;  ///< of them, those for which the chip has no unit
    std::size_t operations = 0;
    sim::Time step_time;
    sim::Time compute;
    std::vector<Share> exposed;  ///< the stream waits, by collective and axes
    sim::Time exposed_total;     ///< compute + exposed_total == step_time
    std::vector<Share> breakdown;
    std::vector<Share> critical_path;  ///< where it was explained, and not too long for it
    std::vector<Share> gap;  ///< the same: adds up to step_time - the bound (explain/step_gap.h)
    std::shared_ptr<const StepTrail> trail{};  ///< where it was asked for, and not too long
    std::vector<InstructionTime> kernels;      ///< longest first
    std::vector<InstructionTime>
        collectives;   ///< and copies to the host, those that are waited for longest first
    sim::Flops flops;  ///< of matmuls, attention and what was given, of one device
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

/// The module's step as what explains and draws steps takes: its machine and mesh; it has no model and no plan.
Scenario scenario_of(const HloRequest& request, const PlacedDevices& devices);

/// Throws sim::InputError, Stopped, and what the watch throws.
HloResult simulate_hlo(const HloRequest& request, Watch* watch);

}  // namespace podsim::scenarios
