// The one runner of changed steps, for ceilings, order noise, sensitivity, advice and remedies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "scenarios/src/base/parallel.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/step_memory.h"

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
    std::uint64_t played = 0;  ///< events, also of a run that was too long
};

struct TryOptions {
    Fold fold = Fold::automatic;
    bool reuse = true;
    int jobs = available_jobs();
    Watch* watch = nullptr;
    /// StepOptions::memory; nullptr: one for these changes.
    StepMemory* memory = nullptr;
    /// StepOptions::compiled_for: the order of operations is that for this hardware. nullptr: each
    /// step has its own.
    const IdealHardware* compiled_for = nullptr;
    /// Limit of a run's events.
    std::uint64_t most_events = std::numeric_limits<std::uint64_t>::max();
    /// Limit of the events that a run plays.
    std::uint64_t most_played = std::numeric_limits<std::uint64_t>::max();
    /// No run begins once the earlier ones have played more together. Trials beyond it are missing.
    std::uint64_t most_played_in_all = std::numeric_limits<std::uint64_t>::max();
    /// The first run that is too long ends all; trials after it are missing.
    bool all_or_none = false;
    /// A change that is not allowed (sim::InputError, sim::TimeOverflow) is a trial without a step;
    /// otherwise it is thrown.
    bool may_be_refused = false;
};

/// Simulates `changed(i)` for i = 0 .. count - 1, in parallel on `jobs` threads, without
/// explanation. Trials are in the order of i and do not depend on the number of threads. Unfolded
/// runs, which need the memory, follow each other. Throws the exception of the first that throws.
std::vector<Trial> try_changes(std::size_t count,
                               const std::function<Scenario(std::size_t)>& changed,
                               const TryOptions& options);

}  // namespace podsim::scenarios
