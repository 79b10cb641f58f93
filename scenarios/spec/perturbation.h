// What breaks the symmetry of a machine: slow chips, slow and dead links, slow hosts.
//
// A perturbation holds where its coordinates say, and everywhere along the axes that it does not
// name. An axis (and the slices) stays folded only where no perturbation names it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/lattice/lattice.h"

namespace podsim::scenarios {

struct Where {
    std::array<std::optional<int>, topology::kAxes> chip;
    std::optional<int> slice;

    [[nodiscard]] bool holds(const topology::Point& at, int in_slice) const;
};

struct Perturbation {
    enum class Kind {
        slow_chips,    ///< compute takes `factor` times as long
        random_chips,  ///< the same, a factor a chip drawn from `spread` and `seed`
        slow_link,     ///< an ICI link runs at `share` of its rate
        dead_link,     ///< an ICI link, both ways
        slow_host,     ///< PCIe and DCN of a host run at `share` of their rates
        slow_dcn,      ///< DCN of a host runs at `share` of its rate
    };
    Kind kind{};
    Where where;
    double factor = 1;
    double spread = 0;
    std::uint64_t seed = 0;
    double share = 1;
    int axis = 0;       ///< of a link: from the chip at `where` towards higher coordinates
    int direction = 0;  ///< +1, -1: that link alone; 0: both ways
};

/// Whether the machine is the same without it: a factor of 1, a spread of 0 %, all of a rate.
bool changes_nothing(const Perturbation& perturbation);

/// Axes along which the machine is not the same everywhere: bit a, and kSlicesDiffer.
inline constexpr unsigned kSlicesDiffer = 1U << topology::kAxes;
unsigned perturbed_axes(const std::vector<Perturbation>& perturbations);

/// The factor of a random chip: 1 + spread x |g|, where g is the sum of twelve uniform numbers from
/// 0 to 1, less 6 (mean 0, variance 1: close to a normal distribution, and exact arithmetic). The numbers
/// come from the seed and the chip's place alone.
double random_factor(const Perturbation& perturbation, const topology::Point& chip, int slice);

}  // namespace podsim::scenarios
