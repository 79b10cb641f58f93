// The bytes that a chip holds over a step, and their peak.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/src/simulate/run_step.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Error band of this account against XLA's own peak, as a fraction of the capacity: a compiler's
/// choices of fusion, padding and reuse decide a few percent.
inline constexpr double kMemoryBelief = 0.05;

/// Returns the largest peak with which a step may still fit, given the error of the peak. A step
/// with a peak up to this keeps the look-ahead that was asked for.
inline sim::Bytes most_believed(sim::Bytes capacity) {
    return (1 + kMemoryBelief) * capacity;
}

/// The verdict of an account on the capacity. All its words come from here.
enum class MemoryFit { fits, tight, does_not_fit };
/// Returns the verdict of `account`, a MemoryUse or a type with the same members.
template <class Account>
MemoryFit fit_of(const Account& account) {
    return account.tight  ? MemoryFit::tight
           : account.fits ? MemoryFit::fits
                          : MemoryFit::does_not_fit;
}
/// Returns `fits`, `tight` or `does not fit`; `does NOT fit` if `stressed`.
std::string_view to_string(MemoryFit fit, bool stressed = false);

/// A change of the held bytes of one class.
struct MemoryChange {
    sim::Time at;
    double bytes = 0;
    std::size_t memory_class = 0;  ///< index in workloads::kMemoryClasses
};
/// Returns the changes in order of time. Received data is held from the time at which it is sent.
/// At one instant, frees precede allocations.
std::vector<MemoryChange> memory_changes(const workloads::StepProgram& program,
                                         const ChipRun& chip);

struct MemoryUse {
    sim::Bytes peak;
    sim::Time peak_at;
    sim::Bytes capacity;
    bool fits = false;
    /// The peak is within kMemoryBelief of the capacity, above or below: the account is no more
    /// accurate.
    bool tight = false;
    std::vector<std::pair<std::string, sim::Bytes>> at_peak;  ///< by memory class
    int stage = 0;  ///< the pipeline stage that needs most
    /// The stage's member that needs most, if members do unequal work: `context rank 3`.
    std::string member{};
};

/// Returns the peak of the buffers over the run's own times (memory_changes).
MemoryUse account_memory(const workloads::StepProgram& program, const ChipRun& chip,
                         sim::Bytes capacity);

}  // namespace podsim::scenarios
