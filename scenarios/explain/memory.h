// The bytes that a chip holds over a step, and the most of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/run/run_step.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// How far XLA's own peak may lie from this account, as a share of the capacity: what a compiler fuses, pads and reuses
/// decides a few percent.
inline constexpr double kMemoryBelief = 0.05;

/// What an account may come to before it is sure that a step does not fit. Look-aheads that hold up to so much stay as they were
/// asked for.
inline sim::Bytes most_believed(sim::Bytes capacity) {
    return (1 + kMemoryBelief) * capacity;
}

/// What an account says of the capacity. The words for it come from here alone.
enum class MemoryFit { fits, tight, does_not_fit };
/// `account`: MemoryUse, or what has the same members.
template <class Account>
MemoryFit fit_of(const Account& account) {
    return account.tight  ? MemoryFit::tight
           : account.fits ? MemoryFit::fits
                          : MemoryFit::does_not_fit;
}
/// `fits`, `tight`, `does not fit`; where it is the news `does NOT fit`.
std::string_view to_string(MemoryFit fit, bool stressed = false);

/// What is held changes by so many bytes of a class.
struct MemoryChange {
    sim::Time at;
    double bytes = 0;
    std::size_t memory_class = 0;  ///< of workloads::kMemoryClasses
};
/// In order of time. What a chip receives is held from when it is sent. At one instant, what ends is freed before what
/// begins is allocated.
std::vector<MemoryChange> memory_changes(const workloads::StepProgram& program,
                                         const ChipRun& chip);

struct MemoryUse {
    sim::Bytes peak;
    sim::Time peak_at;
    sim::Bytes capacity;
    bool fits = false;
    /// The peak is within kMemoryBelief of the capacity, above or below: the account is no better than that.
    bool tight = false;
    std::vector<std::pair<std::string, sim::Bytes>> at_peak;  ///< by memory class
    int stage = 0;         ///< of the pipeline, the one that needs most
    std::string member{};  ///< of it, where members do unequal work: `context rank 3`
};

/// Peak of the buffers over the run's own times (memory_changes).
MemoryUse account_memory(const workloads::StepProgram& program, const ChipRun& chip,
                         sim::Bytes capacity);

}  // namespace podsim::scenarios
