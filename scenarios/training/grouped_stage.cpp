#include "scenarios/training/grouped_stage.h"

#include <utility>

#include "scenarios/training/read_experts.h"
#include "workloads/work/matmul_work.h"

namespace podsim::scenarios {
namespace {

constexpr std::int64_t kMostRows = 1LL << 40;
constexpr std::int64_t kWidest = 1LL << 24;
constexpr std::int64_t kMostGroups = 1 << 16;
constexpr std::pair<std::string_view, bool> kKernels[] = {{"gmm", false}, {"tgmm", true}};

}  // namespace

const std::vector<std::string_view>& grouped_stage_keys() {
    static const std::vector<std::string_view> keys{"m", "k", "n", "groups", "kernel", "tile"};
    return keys;
}

StageCompute read_grouped_stage(const Reader& stage, const Hardware& hardware) {
    const auto whole = [&stage](std::string_view key, std::int64_t most) {
        return static_cast<double>(stage[key].require().whole(1, most, 1));
    };
    workloads::Shard shard;
    shard.experts.path.matmul = workloads::ExpertMatmul::sparse;
    shard.experts.path.devices = hardware.chip.devices.value;
    shard.experts.path.cores = hardware.chip.cores.value;
    shard.experts.tokens = whole("m", kMostRows);
    shard.experts.reached = shard.experts.held = whole("groups", kMostGroups);
    const double k = whole("k", kWidest);
    const double n = whole("n", kWidest);
    const workloads::ExpertTile tile = read_expert_tile(stage["tile"]);
    const bool transposed = stage["kernel"].choose<bool>(kKernels, false);
    return {.work = transposed
                        ? workloads::grouped_weight_gradient(shard, k, n, workloads::Branches::one,
                                                             tile, {})
                        : workloads::grouped(shard, k, n, workloads::Branches::one, tile, {}),
            .at = {}};
}

}  // namespace podsim::scenarios
