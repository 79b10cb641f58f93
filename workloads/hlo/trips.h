// The number of times that the body of a `while` runs.
//
// It is the loop's backend_config (`known_trip_count`) if XLA has written it. Otherwise it follows
// from the form of every counted loop of JAX: element k of the carried tuple begins as a constant,
// the body adds a constant to it, the condition compares it with a constant. The addition and the
// comparison may be in fusions. For each of the three at most kMostEvaluated instructions are
// evaluated, each once however many others read it.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

inline constexpr std::size_t kMostEvaluated = 256;

/// The computations of a loop; null if the text does not have them.
struct LoopParts {
    const Computation* condition = nullptr;
    const Computation* body = nullptr;
};
LoopParts parts_of(const Module& module, const Instruction& loop);

/// Returns nothing if neither source gives a count. Throws sim::InputError if a written count is
/// not a whole number from 0 to 2^50.
std::optional<std::int64_t> trips_of(const Module& module, const Computation& computation,
                                     const Instruction& loop);

}  // namespace podsim::workloads::hlo
