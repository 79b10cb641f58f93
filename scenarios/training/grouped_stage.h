// A stage of a program that is a grouped matmul alone, as a microbenchmark runs it.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/spec/program.h"
#include "scenarios/yaml/reader.h"

namespace podsim::scenarios {

/// The keys of such a stage, beside `do` and `name`.
const std::vector<std::string_view>& grouped_stage_keys();

/// m rows of a chip, sorted by group, in bf16 (workloads/tiles/grouped_tiles.h): times their groups' k x n matrices (kernel: gmm), or their k columns,
/// transposed, times n others, a k x n sum for each group (kernel: tgmm). A chip of several devices has m / devices rows on each, of all groups.
StageCompute read_grouped_stage(const Reader& stage, const Hardware& hardware);

}  // namespace podsim::scenarios
