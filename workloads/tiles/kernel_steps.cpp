#include "workloads/tiles/kernel_steps.h"

#include <algorithm>
#include <cmath>

namespace podsim::workloads {

std::vector<KernelStep> kernel_steps(const GroupedTiles& tiles, const ExpertPath& path,
                                     double products, ElementBytes bytes) {
    constexpr double kMask = 5;  // made wide, numbered, compared, chosen and made narrow again
    const double of_device = std::max(1.0, static_cast<double>(path.cores) / path.devices);
    const double uneven = std::ceil(tiles.tiles_of_n / of_device) * of_device / tiles.tiles_of_n;
    std::vector<KernelStep> steps;
    for (const GridStep& step : tiles.steps) {
        if (step.count > 0) {
            steps.push_back(
                {.count = step.count * products * uneven,
                 .tile = tiles.tile,
                 .bytes = (step.rows + step.results) * bytes.rows + step.matrices * bytes.matrices,
                 .masked = kMask * step.masked,
                 .cores = static_cast<double>(path.cores)});
        }
    }
    return steps;
}

}  // namespace podsim::workloads
