// Random models and plans, and small queries on programs, for the tests of workloads/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "collectives/algorithms/ring_step_schedule.h"
#include "sim/base/error.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::samples {

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    int from(int least, int most) {
        return least + static_cast<int>(engine_() % static_cast<std::uint64_t>(most - least + 1));
    }
    bool coin() { return from(0, 1) == 1; }

private:
    std::mt19937_64 engine_;
};

/// Returns a model whose sizes are multiples of 4, so that tensor may be 1, 2 or 4.
inline ModelSpec random_model(Random& random) {
    ModelSpec model;
    model.name = "random";
    model.layers = random.from(1, 5);
    model.d_model = random.from(1, 200);
    model.d_ff = 4 * random.from(1, 100);
    model.kv_heads = 4 * random.from(1, 3);
    model.heads = model.kv_heads * random.from(1, 3);
    model.head_dim = random.from(1, 64);
    model.vocabulary = 4 * random.from(1, 200);
    model.gated_mlp = random.coin();
    model.tied_embeddings = random.coin();
    return model;
}

/// Returns a legal plan for the models above; full shards unless `padded`.
inline TrainingPlan random_plan(Random& random, bool padded) {
    TrainingPlan plan;
    plan.ways.data = random.from(1, 3);
    plan.ways.fsdp = random.from(1, 4);
    plan.ways.context = random.from(1, 3);
    plan.ways.tensor = 1 << random.from(0, 2);
    plan.batch.sequence =
        std::int64_t{2} * plan.ways.context * plan.ways.tensor * random.from(1, 8);
    const int shards = plan.ways.data * plan.ways.fsdp;
    plan.batch.tokens =
        plan.batch.sequence * (padded ? random.from(1, 3 * shards) : shards * random.from(1, 3));
    plan.attention.causal = random.coin();
    plan.remat.policy = static_cast<RematPolicy>(random.from(0, 2));
    plan.optimizer = static_cast<Optimizer>(random.from(0, 1));
    plan.overlap.prefetch_layers = random.from(0, 3);
    plan.overlap.reductions_in_flight = random.from(1, 4);
    return plan;
}

/// Returns any structure that podsim models, with sizes in multiples of 4 as above.
inline ModelSpec random_any_model(Random& random) {
    ModelSpec model = random_model(random);
    model.head_dim = 4 * random.from(1, 8);
    if (random.coin()) {
        model.kv_heads = 1;
    }
    model.norms = random.from(1, 4);
    model.qk_norm = random.coin();
    model.qkv_bias = random.coin();
    model.positions = random.coin() ? random.from(1, 64) : 0;
    if (random.coin()) {
        model.window = random.from(1, 64);
        model.global_every = random.from(0, static_cast<int>(model.layers));
    }
    Random aside = random;
    model.v_norm = aside.from(0, 3) == 0;
    model.shared_kv = aside.from(0, 3) == 0;
    if (model.global_every > 0 && aside.coin()) {
        model.global = {.kv_heads = aside.coin() ? model.heads : 0,
                        .head_dim = 4 * aside.from(0, 8),
                        .shared_kv = aside.coin()};
    }
    if (random.coin()) {
        model.global = {};
        model.v_norm = model.shared_kv = false;
        model.kv_heads = model.heads;
        model.latent = {.q_rank = 4 * random.from(0, 4),
                        .kv_rank = 4 * random.from(1, 8),
                        .rope_dim = 4 * random.from(0, static_cast<int>(model.head_dim / 4)),
                        .value_dim = random.from(1, 32)};
    }
    if (random.coin()) {
        model.experts = {.count = 4 * random.from(1, 4),
                         .per_token = random.from(1, 4),
                         .shared = random.from(0, 2),
                         .d_ff = 4 * random.from(1, 30),
                         .first_dense = random.from(0, static_cast<int>(model.layers)),
                         .every = random.from(1, static_cast<int>(model.layers))};
    } else {
        model.parallel_block = random.coin();
    }
    return model;
}

/// Returns the same with layers of further tokens, which only training has.
inline ModelSpec random_model_of_training(Random& random) {
    ModelSpec model = random_any_model(random);
    model.mtp_layers = random.from(0, 2);
    return model;
}

/// Returns a legal plan for the model.
inline TrainingPlan random_any_plan(Random& random, bool padded, const ModelSpec& model) {
    TrainingPlan plan = random_plan(random, padded);
    plan.ways.expert = model.experts.count > 0 ? 1 << random.from(0, 2) : 1;
    plan.batch.tokens *= plan.ways.expert;
    return plan;
}

/// In half of the cases, names the tensors that a layer
/// keeps: each in HBM, at the host or not at all.
inline void name_tensors(Random& random, const ModelSpec& model, TrainingPlan& plan) {
    if (random.coin()) {
        return;
    }
    plan.remat.policy = RematPolicy::named;
    for (const LayerTensor tensor : kLayerTensors) {
        const int where = random.from(0, 2);
        if (where > 0 && !(model.parallel_block && tensor == LayerTensor::out)) {
            (where == 1 ? plan.remat.names.save : plan.remat.names.offload).add(tensor);
        }
    }
}

/// t = 32 tokens of a step, D = 16, F = 32 gated, N = 4, K = 2, H = 4, V = 64.
inline ModelSpec one_layer() {
    return {.name = "one layer",
            .source = "this test",
            .layers = 1,
            .d_model = 16,
            .d_ff = 32,
            .heads = 4,
            .kv_heads = 2,
            .head_dim = 4,
            .vocabulary = 64};
}

inline TrainingPlan one_chip() {
    TrainingPlan plan;
    plan.batch.tokens = plan.batch.sequence = 32;
    plan.remat.policy = RematPolicy::none;
    return plan;
}

/// Returns the message of the InputError that `action` throws; fails if it throws nothing.
template <class F>
std::string message_of(F&& action) {
    try {
        action();
    } catch (const sim::InputError& error) {
        return error.what();
    }
    ADD_FAILURE() << "no InputError";
    return {};
}

inline std::vector<std::string> names(const StepProgram& program) {
    std::vector<std::string> result;
    for (const Op& op : program.ops) {
        result.push_back(op.name);
    }
    return result;
}
/// Returns the names that contain `what`.
inline std::vector<std::string> names_with(const StepProgram& program, const std::string& what) {
    std::vector<std::string> found = names(program);
    std::erase_if(found,
                  [&](const std::string& name) { return name.find(what) == std::string::npos; });
    return found;
}

/// Returns the index of the first operation of that name; fails if there is none.
inline OpIndex find_op(const StepProgram& program, const std::string& name) {
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        if (program.ops[i].name == name) {
            return static_cast<OpIndex>(i);
        }
    }
    ADD_FAILURE() << "no operation " << name;
    return 0;
}

/// Returns `name: names of its predecessors,` for the
/// operations in one pass of layer 0, without `layer 0 <pass>`.
inline std::vector<std::string> edges(const StepProgram& program, const std::string& pass,
                                      const std::string& from, const std::string& to) {
    const std::string before = "layer 0 " + pass + ' ';
    std::vector<std::string> lines;
    const OpIndex end = find_op(program, before + to);
    for (OpIndex i = find_op(program, before + from); i <= end; ++i) {
        std::string line = program.ops[i].name.substr(before.size()) + ':';
        for (const OpIndex after : program.ops[i].after) {
            line += ' ' + program.ops[after].name.substr(before.size()) + ',';
        }
        lines.push_back(line);
    }
    return lines;
}

/// Checks that no buffer ends before it begins.
inline void expect_buffers_in_order(const StepProgram& program) {
    for (const Buffer& buffer : program.buffers) {
        EXPECT_FALSE(buffer.allocated_at != kWholeStep && !buffer.freed_after.empty() &&
                     *std::ranges::max_element(buffer.freed_after) < buffer.allocated_at);
    }
}

/// Returns the ring steps of a gather round an axis, or along a line.
inline collectives::SteppedGather ring(int members, bool two_way, bool wrapped = true) {
    topology::Lattice slice;
    slice.lengths = {members, 1, 1};
    slice.wrapped = {wrapped, false, false};
    return collectives::step_gather(slice, {{0, 1, members}}, two_way);
}

/// Returns the bytes of one class held while the named operation runs, in program order.
inline double held_at(const StepProgram& program, const std::string& name,
                      MemoryClass memory_class) {
    const OpIndex at = find_op(program, name);
    double bytes = 0;
    for (const Buffer& buffer : program.buffers) {
        OpIndex end = buffer.freed_after.empty() ? kWholeStep : 0;
        for (const OpIndex after : buffer.freed_after) {
            end = std::max(end, after);
        }
        const bool begun = buffer.allocated_at == kWholeStep || buffer.allocated_at <= at;
        if (buffer.memory_class == memory_class && begun && at <= end) {
            bytes += buffer.bytes.value();
        }
    }
    return bytes;
}

/// Returns the work of the compute operation of that name.
inline Compute compute_of(const StepProgram& program, const std::string& name) {
    return std::get<Compute>(program.ops[find_op(program, name)].work);
}

inline double attention_flops(const StepProgram& program, Pass pass) {
    double sum = 0;
    for (const Op& op : program.ops) {
        const auto* work = std::get_if<Compute>(&op.work);
        sum += work != nullptr && work->attention && op.pass == pass ? work->flops.value() : 0;
    }
    return sum;
}

/// Returns the operations of layer 0 in one pass, without `layer 0 <pass>`.
inline std::vector<std::string> of_layer(const StepProgram& program, Pass pass) {
    const std::string before = "layer 0 " + std::string(to_string(pass)) + ' ';
    std::vector<std::string> names;
    for (const Op& op : program.ops) {
        if (op.layer == 0 && op.pass == pass) {
            names.push_back(op.name.substr(before.size()));
        }
    }
    return names;
}

/// Returns for each operation its predecessors along these edges.
inline std::vector<std::vector<bool>> before_all(const StepProgram& program,
                                                 std::vector<OpIndex> Op::*edges) {
    std::vector<std::vector<bool>> before(program.ops.size(),
                                          std::vector<bool>(program.ops.size()));
    for (std::size_t op = 0; op < program.ops.size(); ++op) {
        for (const OpIndex earlier : program.ops[op].*edges) {
            before[op][earlier] = true;
            for (std::size_t i = 0; i < earlier; ++i) {
                before[op][i] = before[op][i] || before[earlier][i];
            }
        }
    }
    return before;
}

/// Returns a legal plan of any kind for the model, which may change with it.
inline TrainingPlan any_plan(Random& random, ModelSpec& model) {
    for (;;) {
        model = random_any_model(random);
        TrainingPlan plan = random_any_plan(random, true, model);
        name_tensors(random, model, plan);
        plan.overlap.weights = static_cast<WeightGroups>(random.from(0, 2));
        plan.overlap.layer_loop = random.from(0, 3) == 0;
        plan.zero = random.from(0, 2);
        plan.batch.microbatches = random.from(1, 3);
        Random aside = random;
        plan.reduction = static_cast<GradientReduction>(aside.from(0, 2));
        plan.overlap.collectives_in_flight = random.from(0, 3);
        if (random.coin()) {
            plan.overlap.bucket = sim::Bytes(random.from(1000, 200000));
        }
        if (random.coin()) {
            plan.ways.pipeline = random.from(1, 3);
            plan.pipeline.schedule =
                random.coin() ? PipelineSchedule::zero_bubble : PipelineSchedule::one_f_one_b;
            model.layers = std::int64_t{plan.ways.pipeline} * random.from(1, 2);
            model.global_every = 0;
            model.global = {};
            model.experts.first_dense = std::min<std::int64_t>(model.experts.first_dense, 1);
            model.experts.every = 1;
        }
        if (random.from(0, 3) == 0) {
            plan.ways.tensor_transpose = 2;
            model.d_model = std::int64_t{4} * random.from(1, 50);
        } else if (plan.ways.tensor > 1 && random.coin()) {
            plan.overlap.tensor_steps = ring(plan.ways.tensor, random.coin(), random.coin());
        }
        if (plan.ways.context > 1 && random.coin()) {
            plan.overlap.context_steps = ring(plan.ways.context, false);
        }
        plan.batch.tokens *= plan.batch.microbatches;
        plan.forward_only =
            random.from(0, 7) == 0 && plan.pipeline.schedule != PipelineSchedule::zero_bubble;
        try {
            validate(plan, model);
            return plan;
        } catch (const sim::InputError&) {
            continue;
        }
    }
}

}  // namespace podsim::workloads::samples
