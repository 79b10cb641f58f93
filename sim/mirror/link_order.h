// Whether messages and their images go in the same order wherever they meet (fold_by_mirrors.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/mirror/images.h"
#include "sim/workload/machine.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

/// The least rank among a transfer's images, where these orders agree at every link: nothing where they do not.
/// `ranks`: the least among the images of mirrors before, which commute with this one; at first the transfers' own.
std::optional<std::vector<std::uint64_t>> common_ranks(const Schedule& schedule,
                                                       const Machine& machine,
                                                       const ScheduleFacts& facts,
                                                       const std::vector<std::uint64_t>& ranks,
                                                       const std::vector<std::uint32_t>& image);

}  // namespace podsim::sim
