#include "scenarios/training/attention_stage.h"

#include <fmt/format.h>
#include <utility>

#include "scenarios/training/read_attention.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/work/attention_work.h"

namespace podsim::scenarios {
namespace {

constexpr std::int64_t kMostHeads = 1 << 16;
constexpr std::int64_t kWidestHead = 1 << 16;
constexpr std::int64_t kLongestSequence = 1LL << 30;
constexpr std::pair<std::string_view, bool> kPasses[] = {{"forward", false}, {"backward", true}};

}  // namespace

const std::vector<std::string_view>& attention_stage_keys() {
    static const std::vector<std::string_view> keys{
        "heads",     "kv_heads", "head_dim",  "value_dim",          "sequence",
        "sequences", "pass",     "attention", "attention_backward", "attention_blocks"};
    return keys;
}

StageCompute read_attention_stage(const Reader& stage, const Hardware& hardware) {
    workloads::ModelSpec model;
    model.layers = 1;
    model.heads = stage["heads"].require().whole(1, kMostHeads, 1);
    model.kv_heads = stage["kv_heads"].whole(1, kMostHeads, model.heads);
    if (stage["heads"].sound() && stage["kv_heads"].sound() && model.heads % model.kv_heads != 0) {
        stage["kv_heads"].refuse(
            fmt::format("{} heads of queries do not divide among {}", model.heads, model.kv_heads),
            "write a divisor of heads");
    }
    model.head_dim = stage["head_dim"].require().whole(1, kWidestHead, 1);
    model.d_model = model.heads * model.head_dim;
    workloads::TrainingPlan plan;
    plan.batch.sequence = stage["sequence"].require().whole(1, kLongestSequence, 1);
    plan.batch.tokens = plan.batch.sequence * stage["sequences"].whole(1, kLongestSequence, 1);
    plan.attention = read_attention_kernels(stage);
    plan.attention.cores = hardware.chip.cores.value;
    plan.attention.vmem = hardware.chip.vmem.value / hardware.chip.cores.value;
    workloads::Shard shard = workloads::make_shard(model, plan);
    shard.value_dim = static_cast<double>(stage["value_dim"].whole(1, kWidestHead, model.head_dim));
    const bool backward = stage["pass"].choose<bool>(kPasses, false);
    return {.work = backward ? workloads::attention_backward(shard, false)
                             : workloads::attention_forward(shard, false),
            .at = {}};
}

}  // namespace podsim::scenarios
