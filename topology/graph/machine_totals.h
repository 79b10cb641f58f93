// Totals of a machine: chips and their rates, links by class.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/quantity.h"
#include "topology/chips/chip.h"
#include "topology/graph/machine_graph.h"

namespace podsim::topology {

/// The directed links of one class.
struct ClassTotals {
    std::int64_t links = 0;
    /// Sum over all links; a rate that a pair shares counts once.
    sim::BytesPerSecond rate;

    friend bool operator==(const ClassTotals&, const ClassTotals&) = default;
};

struct MachineTotals {
    std::int64_t chips = 0;
    std::int64_t hosts = 0;
    std::int64_t cores = 0;
    sim::FlopsPerSecond bf16_flops;
    sim::FlopsPerSecond int8_ops;
    sim::FlopsPerSecond fp8_flops;
    sim::Bytes hbm_capacity;
    std::array<ClassTotals, kLinkClasses> links{};  ///< by LinkClass

    [[nodiscard]] const ClassTotals& of(LinkClass link_class) const {
        return links[static_cast<std::size_t>(link_class)];
    }
};

/// Sums over the vertices and links of a machine of these chips, without the dead ones.
MachineTotals totals(const MachineGraph& machine, const ChipSpec& chip, const DeadLinks& dead = {});

}  // namespace podsim::topology
