// The one runner of changed steps: ceilings, order noise, sensitivity, advice and remedies are what it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "scenarios/ranks/parallel.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/simulate/step_memory.h"

namespace podsim::scenarios {

/// A step that was simulated with a change.
struct TriedStep {
    sim::Time step_time{};
    MemoryUse memory{};
    std::uint64_t played = 0;  ///< events
};

/// Exactly one holds: there is a step, or its run was too long, or the change is not allowed.
struct Trial {
    std::optional<TriedStep> step{};
    bool too_long = false;
    std::uint64_t played = 0;  ///< events, of a run that was too long, too
};

struct TryOptions {
    Fold fold = Fold::automatic;
    bool reuse = true;
    int jobs = available_jobs();
    Watch* watch = nullptr;
    StepMemory* memory = nullptr;  ///< StepOptions::memory; nullptr: one for these changes
    /// StepOptions::compiled_for: the order of operations is that of this hardware. nullptr: each step has its own.
    const IdealHardware* compiled_for = nullptr;
    std::uint64_t most_events = std::numeric_limits<std::uint64_t>::max();  ///< of a run
    std::uint64_t most_played = std::numeric_limits<std::uint64_t>::max();  ///< by a run
    /// No run begins once those before it have played more together. Trials beyond it are missing.
    std::uint64_t most_played_in_all = std::numeric_limits<std::uint64_t>::max();
    /// The first run that is too long ends all; trials after it are missing.
    bool all_or_none = false;
    /// A change that is not allowed (sim::InputError, sim::TimeOverflow) is a trial without a step; else it is thrown.
    bool may_be_refused = false;
};

/// Simulates `changed(i)` for i = 0 .. count - 1, beside each other on `jobs` threads, without explaining. Trials come in the order of i and do
/// not depend on the number of threads. Unfolded runs, which want the memory, go one after the other. Throws what the first of them throws.
std::vector<Trial> try_changes(std::size_t count,
                               const std::function<Scenario(std::size_t)>& changed,
                               const TryOptions& options);

}  // namespace podsim::scenarios
