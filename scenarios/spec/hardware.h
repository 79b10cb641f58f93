// The machine of a scenario: as its catalogue rates have it, and as its profile reaches them.
//
// Estimates stay on the ideal machine whatever the profile; what is simulated runs on the achieved one. They are two
// types, so that neither can be given where the other is meant. What looks at shapes alone takes either: Hardware.
#pragma once

#include <string>
#include <vector>

#include "scenarios/spec/error_band.h"
#include "scenarios/spec/perturbation.h"
#include "sim/base/quantity.h"
#include "sim/workload/machine.h"
#include "topology/chips/chip.h"
#include "topology/chips/efficiency.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/exchange.h"

namespace podsim::scenarios {

using sim::LatencyRule;

/// Whether kernels and messages wait for each other at a chip's HBM.
enum class HbmRule {
    separate,  ///< each reads and writes as if alone
    shared,    ///< they share its bandwidth
};

/// What both have. There is none that is neither of the two.
struct Hardware {
    topology::ChipSpec chip;  ///< with the scenario's overrides applied
    std::string base;         ///< the catalogue's chip that they change; empty: `chip` is one
    topology::IciRates ici_rates = topology::IciRates::book;
    topology::Point shape{1, 1, 1};
    bool twisted = false;
    topology::Lattice slice;
    int slices = 1;
    double oversubscription = 1;  ///< a host's share of the fabric is its DCN rate over this
    std::string profile = "ideal";
    std::string profile_version;        ///< of profile `measured` and of files; empty: none
    topology::Efficiency efficiency{};  ///< of that profile
    ErrorBand error_band;               ///< of that profile
    /// The cores' beside that at which the profile was measured: of matrix and vector units, not of HBM, links and hosts.
    double core_clock = 1;
    LatencyRule latency = LatencyRule::additive;
    HbmRule hbm = HbmRule::shared;
    sim::Bytes message_cap{4.0 * 1024 * 1024};
    std::vector<Perturbation> perturbations;

    /// Of all slices.
    [[nodiscard]] int chips() const { return slice.size() * slices; }
    /// Of the catalogue, whatever name the scenario gives the chip: what is looked up goes by it.
    [[nodiscard]] const std::string& catalogue_name() const {
        return base.empty() ? chip.name : base;
    }

protected:
    Hardware() = default;
    Hardware(const Hardware&) = default;
    Hardware(Hardware&&) = default;
    Hardware& operator=(const Hardware&) = default;
    Hardware& operator=(Hardware&&) = default;
    ~Hardware() = default;
};

/// The exchanges of equal axes that leave the machine as it is: none where it is not the same everywhere; where slices are joined through
/// hosts, those that leave hosts as they are.
std::vector<topology::AxisExchange> axis_exchanges(const Hardware& hardware);

/// At the rates of the catalogue, which a scenario may override.
struct IdealHardware : Hardware {
    IdealHardware() = default;
};

/// At the rates that the profile reaches: HBM, ICI and DCN by their shares, the launch cost of collectives with what
/// the profile adds. The factors of matmuls and kernels stay in `efficiency`: they depend on the operation.
struct AchievedHardware : Hardware {
    explicit AchievedHardware(const IdealHardware& ideal);
};

}  // namespace podsim::scenarios
