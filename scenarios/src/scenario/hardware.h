// The machine of a scenario, at the rates of the catalogue and at those that its profile reaches.
//
// Estimates use the ideal machine for every profile; simulations use the achieved one. These are
// two types, so that neither can be passed in place of the other. Code that only looks at shapes
// takes their base, Hardware.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/src/scenario/error_band.h"
#include "sim/base/quantity.h"
#include "sim/workload/machine.h"
#include "topology/chips/chip.h"
#include "topology/chips/efficiency.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/exchange.h"

namespace podsim::scenarios {

// Perturbations break the symmetry of a machine: slow chips, slow and dead links, slow hosts.
//
// A perturbation holds where its coordinates say, and everywhere along the axes that it does not
// name. An axis (and the slices) stays folded only where no perturbation names it.

struct Where {
    std::array<std::optional<int>, topology::kAxes> chip;
    std::optional<int> slice;

    [[nodiscard]] bool holds(const topology::Point& at, int in_slice) const;
};

struct Perturbation {
    enum class Kind {
        slow_chips,  ///< compute takes `factor` times as long
        /// The same, with a factor per chip drawn from `spread` and `seed`.
        random_chips,
        slow_link,  ///< an ICI link runs at `share` of its rate
        dead_link,  ///< an ICI link, in both directions
        slow_host,  ///< PCIe and DCN of a host run at `share` of their rates
        slow_dcn,   ///< DCN of a host runs at `share` of its rate
    };
    Kind kind{};
    Where where;
    double factor = 1;
    double spread = 0;
    std::uint64_t seed = 0;
    double share = 1;
    /// Axis of a link, which leads from the chip at `where` towards higher coordinates.
    int axis = 0;
    int direction = 0;  ///< +1, -1: that link alone; 0: both directions
};

/// True if the machine is the same without it: a factor of 1, a spread of 0 %, the full rate.
bool changes_nothing(const Perturbation& perturbation);

/// Axes along which the machine is not the same everywhere: bit a, and kSlicesDiffer.
inline constexpr unsigned kSlicesDiffer = 1U << topology::kAxes;
unsigned perturbed_axes(const std::vector<Perturbation>& perturbations);

/// Returns the factor of a random chip: 1 + spread x |g|, where g is the sum of twelve uniform
/// numbers from 0 to 1, less 6 (mean 0, variance 1: close to a normal distribution, and exact
/// arithmetic). The numbers depend only on the seed and the chip's position.
double random_factor(const Perturbation& perturbation, const topology::Point& chip, int slice);

using sim::LatencyRule;

/// The rule for kernels and messages that use a chip's HBM at once.
enum class HbmRule {
    separate,  ///< each reads and writes as if alone
    shared,    ///< they share its bandwidth
};

/// The members of both machines. No object is of this type alone.
struct Hardware {
    topology::ChipSpec chip;  ///< with the scenario's overrides applied
    /// The catalogue's chip that the overrides change; empty if `chip` is one.
    std::string base;
    topology::IciRates ici_rates = topology::IciRates::book;
    topology::Point shape{1, 1, 1};
    bool twisted = false;
    topology::Lattice slice;
    int slices = 1;
    /// The fabric gives a host its DCN rate divided by this.
    double oversubscription = 1;
    std::string profile = "ideal";
    /// Version of profile `measured` and of files; empty for others.
    std::string profile_version;
    topology::Efficiency efficiency{};  ///< of that profile
    ErrorBand error_band;               ///< of that profile
    /// Clock of the cores relative to that at which the profile was measured. It applies to matrix
    /// and vector units, not to HBM, links and hosts.
    double core_clock = 1;
    LatencyRule latency = LatencyRule::additive;
    HbmRule hbm = HbmRule::shared;
    sim::Bytes message_cap{4.0 * 1024 * 1024};
    std::vector<Perturbation> perturbations;

    /// Returns the number of chips of all slices.
    [[nodiscard]] int chips() const { return slice.size() * slices; }
    /// Returns the chip's name in the catalogue, by which tables are read, whatever name the
    /// scenario gives it.
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

/// Returns the exchanges of equal axes that leave the machine unchanged. There are none if the
/// machine is perturbed. If slices are joined through hosts, the exchanges leave hosts unchanged
/// too.
std::vector<topology::AxisExchange> axis_exchanges(const Hardware& hardware);

/// The machine at the rates of the catalogue, which a scenario may override.
struct IdealHardware : Hardware {
    IdealHardware() = default;
};

/// The machine at the rates that the profile reaches: the fractions of HBM, ICI and DCN, and the
/// launch cost of collectives with the profile's addition. The factors of matmuls and kernels stay
/// in `efficiency`, because they depend on the operation.
struct AchievedHardware : Hardware {
    explicit AchievedHardware(const IdealHardware& ideal);
};

}  // namespace podsim::scenarios
