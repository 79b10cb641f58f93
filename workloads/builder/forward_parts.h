// All that the forward pass of a chip is written with. Knows nothing of gradients, so that inference can use it:
// what the backward pass needs beside it is in step_parts.h.
//
// Operations are written in program order, with names of the part under way. Each takes what makes what it reads
// (Tensor::made_by) and returns what it makes.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/builder/host_offload.h"
#include "workloads/builder/matmul_overlap.h"
#include "workloads/builder/row_exchange.h"
#include "workloads/builder/stage_messages.h"
#include "workloads/builder/weight_gathers.h"
#include "workloads/builder/window_attention.h"
#include "workloads/chain/chain.h"
#include "workloads/chain/held_buffers.h"
#include "workloads/chain/op_names.h"
#include "workloads/plan/overlap.h"
#include "workloads/plan/remat.h"
#include "workloads/plan/ways.h"
#include "workloads/work/attention_seen.h"
#include "workloads/work/rows_work.h"

namespace podsim::workloads {

struct LayerKind;
struct ModelSpec;
struct TrainingPlan;

struct ForwardParts {
    /// `uses` of weights in the order in which begin_use will be called.
    ForwardParts(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                 std::vector<WeightUse> uses);
    ForwardParts(const ForwardParts&) = delete;
    ForwardParts& operator=(const ForwardParts&) = delete;

    const std::shared_ptr<const TrainingPlan> plan;
    const Ways& ways;
    const Remat& remat;
    const Overlap& bounds;  ///< how far communication runs ahead of compute, and behind it
    Shard shard;            ///< attention's sizes are those of the layer under way
    const WeightSharding sharding;
    OpNames names;
    HeldBuffers buffers;
    Chain chain;
    WeightGathers weights;
    HostOffload host;
    MatmulOverlap overlap;
    RowExchange exchange;
    WindowAttention window;
    StageMessages messages;

    /// From here on a layer of that kind is under way.
    void enter(LayerKind kind);
    /// What the chip sees of the sequences in that layer, which is under way.
    const Seen& seen(LayerKind kind);
    /// A new unit of the stage's order, for this microbatch.
    void begin_unit(int microbatch);
    /// The next use of weights; its end is weights.end_use().
    void begin_use();
    /// The next compute reads a matrix of the use's layer: WeightGathers::reads, and transfers that may begin with it.
    void reads(Matrix matrix);

    /// The next compute operation of the chain.
    Tensor compute(std::string_view what, Compute work, Sources needs);
    /// One that reads the weights of the stretch under way, too.
    Tensor with_weights(std::string_view what, Compute work, Sources needs);
    /// A matmul of arriving rows by those weights; in parts where the gather overlaps with it.
    Tensor matmul(std::string_view what, const RowsWork& work, Arriving& rows, Sources others = {});
    Tensor matmul(std::string_view what, Compute work, Arriving& rows, Sources others = {}) {
        return matmul(what, RowsWork(shard, std::move(work)), rows, std::move(others));
    }
    /// A matmul by those weights whose rows, partial sums of `bytes` in all, the next scatter adds up.
    PartialSums matmul_scattered(std::string_view what, const RowsWork& work, double bytes,
                                 Sources needs);
    PartialSums matmul_scattered(std::string_view what, Compute work, double bytes, Sources needs) {
        return matmul_scattered(what, RowsWork(shard, std::move(work)), bytes, std::move(needs));
    }

    StepProgram finish();

private:
    std::vector<Shard>
        of_kinds_;  ///< of global layers and of local ones; none where they are alike
    std::array<std::optional<Seen>, 2> seen_;  ///< of global layers and of local ones
};

}  // namespace podsim::workloads
