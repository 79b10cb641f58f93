// Tensor sharding over both dimensions of weight matrices (2-D weight-stationary): bytes and FLOPs
// by closed form, the operations of a layer, memory, messages.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

#include "tests/workloads/step_program_support.h"
#include "topology/mesh/mesh.h"
#include "workloads/bounds/book_step.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using collectives::Operation;
using samples::message_of;
using samples::one_chip;
using samples::one_layer;
using samples::Random;
using ::testing::ElementsAre;

/// Returns a model whose sizes are multiples of 8, and
/// whose key/value heads divide by the whole parallelism.
ModelSpec random_dense(Random& random) {
    ModelSpec model = samples::random_model(random);
    for (std::int64_t* size : {&model.d_ff, &model.heads, &model.kv_heads, &model.vocabulary}) {
        *size *= 2;
    }
    model.d_model = 4 * random.from(1, 60);
    model.norm = random.coin() ? Norm::layer : Norm::rms;
    model.parallel_block = random.coin();
    return model;
}

TrainingPlan random_2d(Random& random) {
    TrainingPlan plan = samples::random_plan(random, false);
    plan.ways.tensor = 1 << random.from(1, 2);
    plan.ways.tensor_transpose = plan.ways.tensor == 4 ? 2 : 1 << random.from(1, 2);
    plan.batch.sequence *= 4;  // over context x tensor
    plan.batch.tokens *= 4;
    return plan;
}

/// Returns V of a layer's tensor collectives in one
/// pass: AllGathers and ReduceScatters, or AllReduces.
double tensor_bytes(const StepProgram& program, Pass pass, bool reductions) {
    double sum = 0;
    for (const Op& op : program.ops) {
        const auto* collective = std::get_if<Collective>(&op.work);
        if (op.layer == 0 && op.pass == pass && collective != nullptr &&
            collective->purpose == Purpose::tensor &&
            (collective->operation == Operation::all_reduce) == reductions) {
            sum += collective->bytes.value();
        }
    }
    return sum;
}

// B are the tokens of a tensor group, Q and O the columns of queries, keys and values and of
// attention's output, g = 2 for a gated MLP, in bytes (2 an element). A block has two row
// collectives in each pass; a parallel block is one block:
//   forward   (4 or) 8 B D / X  +  2 B (Q + O + (g + 1) F) / Y
//   backward  the same, and if gathered arrays are not alive (2 or) 4 B D / X + 2 B (O + F) / Y;
//             or, with remat block, the whole forward pass once more; with named tensors that of
//             the matmuls that run again.
// The text's two matmuls alone, g = 1 in a parallel block: 4 B D / X + 4 B F / Y, both passes.
TEST(TensorTranspose, BytesAreThoseOfTheClosedForm) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = random_dense(random);
        TrainingPlan plan = random_2d(random);
        samples::name_tensors(random, model, plan);
        validate(plan, model);
        const StepProgram program = build_step(model, plan);
        const double x = plan.ways.tensor_transpose;
        const double y = plan.ways.tensor;
        const double tokens = static_cast<double>(plan.batch.tokens) /
                              (plan.ways.data * plan.ways.fsdp * plan.ways.context);
        const auto wide = [&](double columns) { return 2 * tokens * columns / y; };
        const auto q = static_cast<double>((model.heads + 2 * model.kv_heads) * model.head_dim);
        const auto o = static_cast<double>(model.heads * model.head_dim);
        const auto f = static_cast<double>(model.d_ff);
        const double g = model.gated_mlp ? 2 : 1;
        const double blocks = model.parallel_block ? 1 : 2;
        const double rows = y > 1 ? 2 * tokens * static_cast<double>(model.d_model) / x : 0;
        const double forward = 2 * blocks * rows + wide(q + o + (g + 1) * f);
        EXPECT_DOUBLE_EQ(tensor_bytes(program, Pass::forward, false), forward);
        if (plan.remat.policy == RematPolicy::block) {
            EXPECT_DOUBLE_EQ(tensor_bytes(program, Pass::recompute, false), forward);
            EXPECT_DOUBLE_EQ(tensor_bytes(program, Pass::backward, false), forward);
        } else {
            // A matmul that runs again scatters again, and leaves
            // its gathered array for the weight gradients.
            const TensorSet kept = kept_tensors(plan.remat);
            const double qkv = kept.has(LayerTensor::qkv) ? 0 : 1;
            const double gate_up = kept.has(LayerTensor::gate_up) ? 0 : 1;
            const double out = kept.has(LayerTensor::out) || model.parallel_block ? 0 : 1;
            const double inputs = model.parallel_block ? std::max(qkv, gate_up) : qkv + gate_up;
            EXPECT_DOUBLE_EQ(tensor_bytes(program, Pass::recompute, false),
                             (inputs + out) * rows + wide(qkv * q + gate_up * g * f + out * o));
            EXPECT_DOUBLE_EQ(tensor_bytes(program, Pass::backward, false),
                             forward + (blocks - inputs) * rows + wide((1 - out) * o + f));
        }
        // Sums of norms take 4 bytes for each row of t / Y, and two such sums for a LayerNorm.
        const double norms =
            4 * tokens / y * static_cast<double>(model.norms) * (model.norm == Norm::layer ? 2 : 1);
        for (const Pass pass : {Pass::forward, Pass::backward}) {
            EXPECT_DOUBLE_EQ(tensor_bytes(program, pass, true), norms);
        }
    }
}

// FLOPs are 6 x matmul parameters x tokens and attention, as without sharding; weights and
// gradients move as those of 1-D tensor parallelism over as many chips.
TEST(TensorTranspose, FlopsWeightsAndGradientsAreThoseOfOneAxisOfAllWays) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = random_dense(random);
        TrainingPlan plan = random_2d(random);
        plan.zero = plan.ways.data > 1 ? random.from(0, 2) : 0;
        const StepProgram two = build_step(model, plan);
        plan.ways.tensor *= std::exchange(plan.ways.tensor_transpose, 1);
        plan.batch.sequence *= 4;  // over context x tensor
        plan.batch.tokens *= 4;
        const StepProgram one = build_step(model, plan);
        plan.batch.sequence /= 4;
        plan.batch.tokens /= 4;
        const StepProgram same = build_step(model, plan);
        for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward}) {
            EXPECT_EQ(flops_by_pass(two).of(pass), flops_by_pass(same).of(pass));
        }
        for (const Purpose purpose : {Purpose::weights, Purpose::gradients}) {
            const auto bytes = [&](const StepProgram& program) {
                double sum = 0;
                for (const CollectiveBytes& row : collective_bytes(program)) {
                    sum += row.purpose == purpose ? row.bytes.value() : 0;
                }
                return sum;
            };
            EXPECT_EQ(bytes(two), bytes(one));
        }
        // The optimizer's state, the parameters and the remaining gradients are also the same.
        for (const MemoryClass state : {MemoryClass::parameters, MemoryClass::optimizer}) {
            EXPECT_EQ(peak_in_program_order(two).of(state), peak_in_program_order(one).of(state));
        }
    }
}

TEST(TensorTranspose, OperationsOfALayer) {
    ModelSpec model = one_layer();
    model.kv_heads = 4;
    TrainingPlan plan = one_chip();
    plan.ways.tensor = plan.ways.tensor_transpose = 2;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(samples::of_layer(program, Pass::forward),
                ElementsAre("reduce attention norm", "gather attention input", "qkv", "scatter qkv",
                            "attention", "gather attended", "out", "scatter attention output",
                            "reduce mlp norm", "gather mlp input", "gate_up", "scatter gate_up",
                            "gather hidden", "down", "scatter mlp output"));
    EXPECT_THAT(
        samples::of_layer(program, Pass::backward),
        ElementsAre("gather mlp output gradient", "down input gradient", "scatter hidden gradient",
                    "gather hidden", "down weight gradient", "gather mlp input",
                    "gather gate_up gradient", "gate_up input gradient",
                    "scatter mlp input gradient", "reduce mlp norm gradient",
                    "gate_up weight gradient", "gather attention output gradient",
                    "out input gradient", "scatter attended gradient", "gather attended",
                    "out weight gradient", "attention gradient", "gather attention input",
                    "gather qkv gradient", "qkv input gradient", "scatter attention input gradient",
                    "reduce attention norm gradient", "qkv weight gradient"));
    // 32 rows of 16 / 2 columns by 16 / 2 x 2 32 / 2
    // give partial sums of 32 x 32, of which half stay.
    const Compute gate_up = samples::compute_of(program, "layer 0 forward gate_up");
    EXPECT_EQ(gate_up.matmuls[0].m, 32);
    EXPECT_EQ(gate_up.matmuls[0].k, 8);
    EXPECT_EQ(gate_up.matmuls[0].n, 32);
    EXPECT_EQ(gate_up.flops.value(), 2 * 32 * 8 * 32);
    const Op& scatter = program.ops[samples::find_op(program, "layer 0 forward scatter gate_up")];
    EXPECT_EQ(std::get<Collective>(scatter.work).bytes.value(), 2 * 32 * 32);
    EXPECT_THAT(std::get<Collective>(scatter.work).axes, ElementsAre("tensor_transpose"));
    const Op& rows = program.ops[samples::find_op(program, "layer 0 forward gather mlp input")];
    EXPECT_EQ(std::get<Collective>(rows.work).bytes.value(), 2 * 32 * 8);
    EXPECT_THAT(std::get<Collective>(rows.work).axes, ElementsAre("tensor"));
}

/// Returns the bytes of a class alive just before an operation.
double held_before(const StepProgram& program, const std::string& name, MemoryClass memory_class) {
    const OpIndex at = samples::find_op(program, name);
    double bytes = 0;
    for (const Buffer& buffer : program.buffers) {
        const bool begun = buffer.allocated_at == kWholeStep || buffer.allocated_at < at;
        const bool ended =
            !buffer.freed_after.empty() && *std::ranges::max_element(buffer.freed_after) < at;
        bytes += buffer.memory_class == memory_class && begun && !ended ? buffer.bytes.value() : 0;
    }
    return bytes;
}

// A layer saves as much as with 1-D tensor parallelism X Y (memory_peak_test.cpp): every named
// tensor is held in the shard that is scattered. Only state outlives the backward pass.
TEST(TensorTranspose, SavedActivationsAreSharesOfAllWays) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = random_dense(random);
        TrainingPlan plan = random_2d(random);
        const StepProgram two = build_step(model, plan);
        plan.ways.tensor *= std::exchange(plan.ways.tensor_transpose, 1);
        const StepProgram one = build_step(model, plan);
        const char* end = "unembedding forward logits";
        EXPECT_EQ(held_before(two, end, MemoryClass::activations),
                  held_before(one, end, MemoryClass::activations));
        for (const MemoryClass transient :
             {MemoryClass::activations, MemoryClass::buffers, MemoryClass::gathered_weights}) {
            EXPECT_EQ(held_before(two, "optimizer update", transient), 0);
        }
        samples::expect_buffers_in_order(two);
    }
}

// D = 1024, F = 4096 plain, N = K = 8, H = 128, V = 8192; t = 65536 over X = 4 and Y = 4, no
// remat, W = 2^23 each:
//   rows = t D / X 2 / W = 2^25 / 2^23 = 4 s, columns of w = t w / Y 2 / W = w / 256 s:
//   q 3072, o 1024, 2 F 8192: 48 s; o + F again 20 s
//   forward 16 + 48, backward 24 + 48 + 20; unembedding 4 + 32 in each pass
TEST(TensorTranspose, BookStepByHand) {
    const ModelSpec model{.name = "book",
                          .source = "this test",
                          .layers = 2,
                          .d_model = 1024,
                          .d_ff = 4096,
                          .heads = 8 * 2,
                          .kv_heads = 8 * 2,
                          .head_dim = 64,
                          .vocabulary = 8192,
                          .gated_mlp = false};
    TrainingPlan plan;
    plan.batch.tokens = 65536;
    plan.batch.sequence = 4096;
    plan.remat.policy = RematPolicy::none;
    plan.ways.tensor = plan.ways.tensor_transpose = 4;
    topology::Lattice slice;
    slice.lengths = {4, 4, 1};
    slice.wrapped = {true, true, false};
    const topology::DeviceMesh mesh(slice,
                                    {{"tensor", {{0, 1, 4}}}, {"tensor_transpose", {{1, 1, 4}}}});
    const MachineRates rates{.flops = sim::FlopsPerSecond(1e30),
                             .hbm = sim::BytesPerSecond(1),
                             .ici_one_way = sim::BytesPerSecond(0x1p22)};
    EXPECT_DOUBLE_EQ(book_step(model, plan, mesh, rates).time.value(),
                     2 * (16 + 48 + 24 + 48 + 20) + 2 * (4 + 32));
}

TEST(TensorTranspose, SaysWhatIsWrong) {
    ModelSpec model = one_layer();
    model.kv_heads = 4;
    TrainingPlan plan = one_chip();
    plan.ways.tensor_transpose = 4;
    EXPECT_EQ(message_of([&] { validate(plan, model); }),
              "tensor_transpose = 4 without tensor: it splits weight matrices over d_model beside "
              "tensor, which splits their other dimension; add the axis tensor, or use this one as "
              "tensor");
    plan.ways.tensor = 2;
    model.d_model = 18;
    EXPECT_EQ(message_of([&] { validate(plan, model); }),
              "tensor_transpose = 4 does not divide the width (d_model) 18 of one layer; "
              "the nearest that work are 3 and 6");
    model.d_model = 16;
    model.experts = {.count = 4, .per_token = 2, .d_ff = 32};
    EXPECT_EQ(message_of([&] { validate(plan, model); }),
              "tensor_transpose = 4 with one layer: experts cannot be split over d_model yet; "
              "use the axis as tensor or fsdp");
    model.experts = {};
    plan.overlap.tensor_steps.emplace();
    EXPECT_EQ(message_of([&] { validate(plan, model); }),
              "tensor_transpose = 4 with overlapped tensor collectives: ring steps between parts "
              "of a matmul are there for matrices split over one axis alone; "
              "write overlap.tensor: blocking, or use the axis as tensor");
}

}  // namespace
}  // namespace podsim::workloads
