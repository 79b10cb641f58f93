// Running a scenario: lowering the step onto links and streams, executing it, and accounting for
// every picosecond of the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/algorithm.h"
#include "scenarios/scenario.h"
#include "sim/time.h"
#include "workloads/analytic.h"

namespace podsim::scenarios {

enum class Fold { automatic, off };

/// A named share of a time, in whole picoseconds so that shares add up exactly.
struct Share {
    std::string name;
    sim::Time time;
};

struct LinkUse {
    std::string name;          ///< `ici_x`, `ici_y`, `ici_z`
    double busy_fraction = 0;  ///< of the step, mean over the links of the class
    sim::Bytes bytes;          ///< per link, mean over the links of the class
};

struct MemoryUse {
    sim::Bytes peak;
    sim::Time peak_at;
    sim::Bytes capacity;
    bool fits = false;
    std::vector<std::pair<std::string, sim::Bytes>> at_peak;  ///< by memory class
};

/// One operation of the reported chip, for traces.
struct Span {
    std::string name;
    std::string track;  ///< `compute`, or `tensor`, `context`, `weights`, `gradients`
    sim::Time start;
    sim::Time end;
};

struct StepResult {
    sim::Time step_time;
    sim::Time compute;  ///< sum of the compute stream's work on the reported chip
    std::vector<Share>
        exposed;  ///< compute stream idle, by collective and mesh axis: `AllGather over fsdp+context (weights)`
    sim::Time exposed_total;  ///< compute + exposed_total == step_time
    double mfu = 0;
    double hfu = 0;
    double tokens_per_s = 0;
    workloads::LowerBound lower;
    sim::Seconds serial;
    sim::Seconds book;
    std::vector<Share> gap;  ///< adds up to step_time - roofline_lower (rounded down to ps)
    MemoryUse memory;
    std::vector<LinkUse> links;
    std::vector<Share>
        breakdown;  ///< compute by pass (`forward`, `recompute`, ...), adds up to `compute`
    int prefetch_layers = 0;  ///< in force after the memory bound
    std::uint64_t events = 0;
    std::uint64_t played_events = 0;  ///< those that were played, not skipped as repeats
    int simulated_chips = 0;
    int chips = 0;
    double wall_time_s = 0;
    std::vector<Span> spans;  ///< of the reported chip
};

StepResult simulate_step(const Scenario& scenario, Fold fold);

struct CollectiveRequest {
    Hardware hardware;
    collectives::Operation operation{};
    collectives::Group group;
    sim::Bytes bytes;
    collectives::Algorithm algorithm{};
};

struct CollectiveResult {
    sim::Time simulated;
    std::optional<sim::Seconds> analytic;  ///< the algorithm's exact closed form, where it has one
    sim::Seconds book;
    sim::Seconds physical_bound;
    collectives::Algorithm algorithm{};  ///< the one that ran
    int hops = 0;                        ///< links on the longest chain of dependent hops
    std::uint64_t events = 0;
    int simulated_chips = 0;
    double wall_time_s = 0;
    std::vector<LinkUse> links;
};

CollectiveResult simulate_collective(const CollectiveRequest& request, Fold fold);

}  // namespace podsim::scenarios
