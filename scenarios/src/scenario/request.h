// The request of a simulation: how much of the machine to simulate, and which collective to run
// alone.
#pragma once

#include "collectives/vocabulary/collective_call.h"
#include "scenarios/src/scenario/hardware.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// Folding simulates chips that do the same once, and links of a chip that do the same.
/// `axes_apart` excepts links of different axes, for a result that says for which of them a step
/// waits. Folding changes no time.
enum class Fold { automatic, axes_apart, off };

/// One collective of every group of the slices at once.
struct StageCollective {
    collectives::Operation operation{};
    collectives::Members members;
    collectives::Ends ends{};  ///< of a permute, send, broadcast, gather or scatter
    collectives::Algorithm algorithm{};
    sim::Bytes bytes;

    [[nodiscard]] collectives::CollectiveCall call(const topology::Lattice& slice) const {
        return {.operation = operation,
                .slice = slice,
                .members = members,
                .bytes = bytes,
                .algorithm = algorithm,
                .ends = ends};
    }
};

/// A collective on an otherwise idle machine.
struct CollectiveRequest {
    IdealHardware hardware;
    collectives::Operation operation{};
    collectives::Members members;
    sim::Bytes bytes;
    collectives::Algorithm algorithm{};
    collectives::Ends ends{};

    [[nodiscard]] StageCollective collective() const {
        return {operation, members, ends, algorithm, bytes};
    }
};

}  // namespace podsim::scenarios
