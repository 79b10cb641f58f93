#include "scenarios/src/report/collective_page.h"

#include <fmt/format.h>
#include <utility>

#include "collectives/vocabulary/operation.h"
#include "topology/lattice/shape.h"

namespace podsim::scenarios {

Page collective_page(std::span<const CollectiveRun> runs, Json result) {
    const CollectiveRun& run = runs.front();
    const Hardware& hardware = run.request.hardware;
    return {.kind = "collective",
            .title = fmt::format(
                "{} on {} {}", collectives::to_string(run.request.operation), hardware.chip.name,
                topology::to_string(hardware.shape, hardware.chip.torus_dimensions.value)),
            .result = std::move(result)};
}

}  // namespace podsim::scenarios
