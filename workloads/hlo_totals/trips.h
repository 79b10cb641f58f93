// How often the body of a `while` runs.
//
// From the loop's backend_config (`known_trip_count`), where XLA has written it; else from the form that every counted loop of JAX has:
// the condition compares element k of the carried tuple with a constant, the body adds a constant to it, and it begins as a constant.
// Both may stand in fusions. Up to kMostEvaluated instructions are looked at for each of the three, each once however many read it.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

inline constexpr std::size_t kMostEvaluated = 256;

/// The computations of a loop; nothing where the text does not have them.
struct LoopParts {
    const Computation* condition = nullptr;
    const Computation* body = nullptr;
};
LoopParts parts_of(const Module& module, const Instruction& loop);

/// Nothing where neither tells. Throws sim::InputError for a written count that is no whole number of 0 to 2^50.
std::optional<std::int64_t> trips_of(const Module& module, const Computation& computation,
                                     const Instruction& loop);

}  // namespace podsim::workloads::hlo
