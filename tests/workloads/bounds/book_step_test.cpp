// The reference text's step, term by term: pipelines, ZeRO, experts, recomputation under named
// remat, several slices.
#include "workloads/bounds/book_step.h"

#include <gtest/gtest.h>
#include <vector>

#include "tests/workloads/bounds/by_hand.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

using samples::book_model;
using samples::book_plan;
using samples::kNever;
using samples::torus;
using topology::DeviceMesh;

MachineRates step_rates(double flops, double link) {
    return {sim::FlopsPerSecond(flops), sim::BytesPerSecond(1), sim::BytesPerSecond(link), 1};
}

// 2^16 tokens in 8 microbatches: forward 2 P t = 3 x 2^36 and a = 2^36 FLOPs, 1 s a layer, backward
// 2 s; the unembedding takes 0.5 and 1 s. Four layers take 12 s a microbatch, and 1.5 s beside.
TEST(BookStep, PipelinesAddTheirBubble) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.batch.microbatches = 8;
    const auto step = [&] {
        return book_step(book_model(4), plan, DeviceMesh(torus(4), {{"pipeline", {{0, 1, 4}}}}),
                         step_rates(0x1p38, 1))
            .time.value();
    };
    EXPECT_DOUBLE_EQ(step(), 8 * 12 + 8 * 1.5);
    plan.ways.pipeline = 4;
    EXPECT_DOUBLE_EQ(step(), (8 + 3) * 3 + 8 * 1.5);
    plan.layers_only = true;
    EXPECT_DOUBLE_EQ(step(), (8 + 3) * 3);
    plan.layers_only = false;
    plan.pipeline.schedule = PipelineSchedule::zero_bubble;
    // Gradients of weights take W = 0.75 s a layer, those of inputs B = 1.25: the bubble is three
    // times F + B - W of a stage's one layer.
    EXPECT_DOUBLE_EQ(step(), 8 * 3 + 3 * (1 + 1.25 - 0.75) + 8 * 1.5);
    plan.pipeline = {.schedule = PipelineSchedule::interleaved, .chunks = 3};
    EXPECT_DOUBLE_EQ(step(), (8 + 1) * 3 + 8 * 1.5);
    // An evaluation step has only the forward passes.
    plan.pipeline = {};
    plan.forward_only = true;
    EXPECT_DOUBLE_EQ(step(), (8 + 3) * 1 + 8 * 0.5);
}

// A further token is one more layer, 1 and 2 s, its projection of 2^21 parameters,
// 2 x 2^21 t / R = 1/8 and 1/4 s, and logits once more, 0.5 and 1 s. Over an axis
// at W = 2^23 its 2 x 2^21 bytes are gathered in 0.5 s, twice, and its gradients
// scattered. The table's 2 x 2^23 bytes, 2 s, are not gathered again.
TEST(BookStep, FurtherTokensAreLayersWithAProjectionAndLogits) {
    TrainingPlan plan = book_plan(1 << 13);
    ModelSpec model = book_model(2);
    const auto step = [&](double flops, double link, const DeviceMesh& mesh) {
        return book_step(model, plan, mesh, step_rates(flops, link)).time.value();
    };
    const DeviceMesh one(torus(1), {});
    EXPECT_DOUBLE_EQ(step(0x1p38, 1, one), 2 * 3 + 1.5);
    model.mtp_layers = 2;
    EXPECT_DOUBLE_EQ(step(0x1p38, 1, one), 2 * 3 + 1.5 + 2 * (3 + 0.375 + 1.5));
    // Further tokens recompute nothing, whatever the remat policy.
    plan.remat.policy = RematPolicy::block;
    EXPECT_DOUBLE_EQ(step(0x1p38, 1, one), 2 * 4 + 1.5 + 2 * (3 + 0.375 + 1.5));
    plan.remat.policy = RematPolicy::none;
    plan.forward_only = true;
    EXPECT_DOUBLE_EQ(step(0x1p38, 1, one), 2 + 0.5);
    plan.forward_only = false;
    plan.ways.fsdp = 4;
    const DeviceMesh ring(torus(4), {{"fsdp", {{0, 1, 4}}}});
    const double with_two = step(kNever, 0x1p22, ring);
    model.mtp_layers = 0;
    EXPECT_DOUBLE_EQ(with_two - step(kNever, 0x1p22, ring), 2 * (3 * 3 + 3 * 0.5));
}

// Over one axis at W = 2^23 two reductions of P x 2 bytes take 6 s, and that of the table 4 s.
TEST(BookStep, ZeroReducesOnceAndGathersWhatIsUpdated) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.ways.data = 4;
    const ModelSpec model = book_model(2);
    const DeviceMesh mesh(torus(4), {{"data", {{0, 1, 4}}}});
    const auto step = [&] {
        return book_step(model, plan, mesh, step_rates(kNever, 0x1p22)).time.value();
    };
    const double updated = static_cast<double>(count_parameters(model).total) * 2 / 0x1p23;
    EXPECT_DOUBLE_EQ(step(), 2 * 6 + 4);
    plan.zero = 1;
    EXPECT_DOUBLE_EQ(step(), 2 * 3 + 2 + updated);
    plan.zero = 2;
    EXPECT_DOUBLE_EQ(step(), 2 * 3 + 2 + updated);
    // The last of two stages gathers one of the two
    // layers, with half of the final norm, and the table.
    plan.ways.pipeline = 2;
    const ParameterCount count = count_parameters(model);
    const double held = static_cast<double>(count.total - 2 * count.embedding) / 2 +
                        static_cast<double>(count.embedding);
    EXPECT_DOUBLE_EQ(step(), (6 + 6) / 2 + 2 + held * 2 / 0x1p23);
    plan.ways.pipeline = 1;
    // Gradients have 4 bytes; the gathered copy stays at 2.
    plan.precision.gradients = plan.precision.parameters = 4;
    EXPECT_DOUBLE_EQ(step(), 2 * 6 + 4 + updated);
    // Gradients are reduced once a step, for any number of microbatches.
    plan = book_plan(1 << 16);
    plan.ways.data = plan.batch.microbatches = 4;
    EXPECT_DOUBLE_EQ(step(), 2 * 6 + 4);
    plan.zero = 1;
    plan.forward_only = true;
    EXPECT_DOUBLE_EQ(step(), 0);
}

// Gradients of 4 microbatches are reduced for each or once: over data 6 s a layer and 4 s of the
// table. Over fsdp a layer is gathered in 3 s twice and scattered in 3 s, the table in 2 s and 2 s;
// scattered once, each microbatch counts a quarter.
TEST(BookStep, GradientsAreReducedForEachMicrobatchOrOnce) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.batch.microbatches = 4;
    const auto step = [&](const char* axis) {
        const DeviceMesh mesh(torus(4), {{axis, {{0, 1, 4}}}});
        return book_step(book_model(2), plan, mesh, step_rates(kNever, 0x1p22)).time.value();
    };
    plan.ways.data = 4;
    EXPECT_DOUBLE_EQ(step("data"), 2 * 6 + 4);
    plan.reduction = GradientReduction::once;
    EXPECT_DOUBLE_EQ(step("data"), 2 * 6 + 4);
    plan.reduction = GradientReduction::each;
    EXPECT_DOUBLE_EQ(step("data"), 4 * (2 * 6 + 4));
    plan.zero = 1;
    const double updated = static_cast<double>(count_parameters(book_model(2)).total) * 2 / 0x1p23;
    EXPECT_DOUBLE_EQ(step("data"), 4 * (2 * 6 + 4) + updated);
    plan.zero = 0;
    plan.ways.data = 1;
    plan.ways.fsdp = 4;
    EXPECT_DOUBLE_EQ(step("fsdp"), 4 * (2 * 9 + 4));
    plan.reduction = GradientReduction::data_once;
    EXPECT_DOUBLE_EQ(step("fsdp"), 4 * (2 * 9 + 4));
    plan.reduction = GradientReduction::once;
    EXPECT_DOUBLE_EQ(step("fsdp"), 4 * (2 * (6 + 0.75) + 2 + 0.5));
}

// Four experts on four chips, two a token: t = 2^14, one exchange 4 t k D b / (4 W) = 2^28 / 2^25 =
// 8 s. All weights except the experts' are gathered over the axis: attention and the router, g =
// (2^22 + 2^12) x 2 / 2^23 s.
TEST(BookStep, ExpertsExchangeTokens) {
    ModelSpec model = book_model(2);
    model.experts = {.count = 4, .per_token = 2, .d_ff = 4096};
    TrainingPlan plan = book_plan(1 << 16);
    plan.ways.expert = 4;
    const double g = 1 + 0x1p-10;
    const DeviceMesh mesh(torus(4), {{"expert", {{0, 1, 4}}}});
    const auto step = [&] {
        return book_step(model, plan, mesh, step_rates(kNever, 0x1p22)).time.value();
    };
    EXPECT_DOUBLE_EQ(step(), 2 * (g + 2 * 8 + 2 * g + 2 * 8) + 2 + 2);
    plan.remat.policy = RematPolicy::block;
    EXPECT_DOUBLE_EQ(step(), 2 * (g + 2 * 8 + 2 * g + 4 * 8) + 2 + 2);
    // The results of the experts are exchanged again for the gradient of the router's weights, with
    // any set of saved tensors.
    for (const TensorSet& save : {TensorSet{}, TensorSet{LayerTensor::output}}) {
        plan.remat = {.policy = RematPolicy::named, .names = {.save = save}};
        EXPECT_DOUBLE_EQ(step(), 2 * (g + 2 * 8 + 2 * g + 4 * 8) + 2 + 2);
    }
    // On four slices of one chip, three quarters of a
    // chip's t k D b = 2^26 bytes leave it, at 2^23 in 6 s.
    plan.remat.policy = RematPolicy::none;
    MachineRates machine = step_rates(kNever, 0x1p200);
    machine.between_slices = {
        .pcie = sim::BytesPerSecond(1), .dcn = sim::BytesPerSecond(0x1p23), .hosts = 1};
    const DeviceMesh slices(torus(1), {{"expert", {{topology::kSliceAxis, 1, 4}}}}, 4);
    EXPECT_DOUBLE_EQ(book_step(model, plan, slices, machine).time.value(),
                     2 * (g + 2 * 6 + 2 * g + 2 * 6) + 2 + 2);
}

// Expert and tensor parallelism of 2 each, t = 2^15: rows take t D b / W = 2^26 / 2^23 = 8 s, the
// experts' over tensor twice that, and an exchange 2 t D b / 2 x 2 / (4 W) = 4 s. Forward has 2
// rows and two of 20 s. Backward has 3 rows, two of 20 s, and the experts' rows gathered once more,
// 16 s. The table and its rows take 9 s in each pass; g = (2^22 + 2^12) / 2 x 2 / 2^23 s.
TEST(BookStep, ExpertsGatherTheirRowsOverTensorOnceMore) {
    ModelSpec model = book_model(1);
    model.experts = {.count = 4, .per_token = 2, .d_ff = 4096};
    TrainingPlan plan = book_plan(1 << 16);
    plan.ways.expert = plan.ways.tensor = 2;
    const double g = (1 + 0x1p-10) / 2;
    const DeviceMesh mesh(torus(2, 2), {{"expert", {{0, 1, 2}}}, {"tensor", {{1, 1, 2}}}});
    EXPECT_DOUBLE_EQ(book_step(model, plan, mesh, step_rates(kNever, 0x1p22)).time.value(),
                     g + 16 + 40 + 2 * g + 24 + 40 + 16 + 18);
}

// The experts' own weights are gathered over fsdp: 4 x 2^23 parameters / expert parallelism of 2 x
// 2 bytes = 2^25 over one axis, 4 s. All others are gathered over fsdp x expert, two axes, in half
// of the 1 + 2^-10 s that one axis takes.
TEST(BookStep, WeightsOfExpertsAreGatheredWithoutTheirAxis) {
    ModelSpec model = book_model(1);
    model.experts = {.count = 4, .per_token = 1, .d_ff = 4096};
    TrainingPlan plan = book_plan(4 * 4096);
    plan.ways.expert = plan.ways.fsdp = 2;
    const DeviceMesh mesh(torus(2, 2), {{"expert", {{0, 1, 2}}}, {"fsdp", {{1, 1, 2}}}});
    const double g = (1 + 0x1p-10) / 2 + 4;
    // t = 4096: an exchange takes 2 t D b / (4 W) = 2^24 / 2^25.
    const double exchange = 0.5;
    EXPECT_DOUBLE_EQ(book_step(model, plan, mesh, step_rates(kNever, 0x1p22)).time.value(),
                     g + 2 * exchange + 2 * g + 2 * exchange + 1 + 1);
}

// 2^16 tokens on one chip at 2^37 FLOP/s: 2 P t takes 12 s, a 4 s; the unembedding 8 + 16 s.
// Backward takes 24 s and a twice or three times. Recomputed are out (2^20 parameters, 1 s),
// gate_up (2^22, 4 s) and queries, keys and values (3 s), unless they are named.
TEST(BookStep, NamedTensorsRunTheRestAgain) {
    TrainingPlan plan = book_plan(1 << 16);
    const auto backward = [&](TensorSet save) {
        plan.remat = {.policy = RematPolicy::named, .names = {.save = save}};
        return book_step(book_model(1), plan, {}, step_rates(0x1p37, 1)).time.value() - (12 + 4) -
               24;
    };
    using enum LayerTensor;
    EXPECT_DOUBLE_EQ(backward({qkv, attended, out, gate_up}), 24 + 2 * 4);
    EXPECT_DOUBLE_EQ(backward({qkv, out, gate_up}), 24 + 3 * 4);
    EXPECT_DOUBLE_EQ(backward({attended, out, gate_up}), 24 + 2 * 4 + 3);
    EXPECT_DOUBLE_EQ(backward({qkv, attended, gate_up}), 24 + 2 * 4 + 1);
    EXPECT_DOUBLE_EQ(backward({qkv, attended, out}), 24 + 2 * 4 + 4);
    EXPECT_DOUBLE_EQ(backward({}), 24 + 3 * 4 + 8);
    // The whole forward pass runs again, including the last matmul.
    plan.remat = {.policy = RematPolicy::block};
    EXPECT_DOUBLE_EQ(book_step(book_model(1), plan, {}, step_rates(0x1p37, 1)).time.value(),
                     16 + 24 + 24 + 12 + 3 * 4);
}

// Matmuls of int8 run at another rate; attention and logits stay in bf16.
TEST(BookStep, MatmulsRunAtTheRateOfTheirPrecision) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.precision.matmul = MatmulDtype::int8;
    MachineRates machine = step_rates(0x1p37, 1);
    machine.int8 = sim::FlopsPerSecond(0x1p38);
    EXPECT_DOUBLE_EQ(book_step(book_model(1), plan, {}, machine).time.value(),
                     6 + 4 + 12 + 2 * 4 + 8 + 16);
    // Backward in bf16 has the twelfth of the parameters
    // that projects outputs, the third of attention, or all.
    const auto backward = [&](MatrixSet bf16) {
        plan.precision.bf16_backward = bf16;
        return book_step(book_model(1), plan, {}, machine).time.value() - (6 + 4) - 2 * 4 -
               (8 + 16);
    };
    const MatrixSet mlp({Matrix::gate_up, Matrix::down});
    const MatrixSet qkv({Matrix::latent, Matrix::qkv});
    EXPECT_DOUBLE_EQ(backward(MatrixSet({Matrix::out})), 2 + 22 / 2.0);
    EXPECT_DOUBLE_EQ(backward(MatrixSet({Matrix::out}) | qkv), 8 + 16 / 2.0);
    EXPECT_DOUBLE_EQ(backward(MatrixSet({Matrix::out}) | qkv | mlp), 24);
    // Logits in chunks are computed again.
    plan.logit_chunks = 2;
    EXPECT_DOUBLE_EQ(backward({}), 12 + 8);
}

// Over W = 2^23 a layer's 12 x 2^20 weights take 1.5 s in one byte. With
// dynamic scales under full remat the 8 of 12 that run again are gathered
// separately, 1 s more; a twelfth in bf16 backward adds one byte of it.
TEST(BookStep, DynamicScalesGatherWhatRunsAgainByItself) {
    TrainingPlan plan = book_plan(1 << 13);
    plan.ways.fsdp = 4;
    plan.precision.matmul = MatmulDtype::int8;
    const DeviceMesh ring(torus(4), {{"fsdp", {{0, 1, 4}}}});
    MachineRates machine = step_rates(kNever, 0x1p22);
    machine.int8 = sim::FlopsPerSecond(kNever);
    const auto step = [&](Scaling scaling, RematPolicy remat) {
        plan.precision.scaling = scaling;
        plan.remat = {.policy = remat};
        return book_step(book_model(1), plan, ring, machine).time.value();
    };
    const double kept = step(Scaling::fixed, RematPolicy::none);
    EXPECT_DOUBLE_EQ(step(Scaling::fixed, RematPolicy::named), kept);
    EXPECT_DOUBLE_EQ(step(Scaling::dynamic, RematPolicy::none), kept);
    EXPECT_DOUBLE_EQ(step(Scaling::dynamic, RematPolicy::named), kept + 1);
    plan.precision.bf16_backward = MatrixSet({Matrix::out});
    EXPECT_DOUBLE_EQ(step(Scaling::dynamic, RematPolicy::named), kept + 1 + 0.125);
    plan.precision.bf16_backward = {};
    plan.precision.quantised_gather = plan.precision.quantised_expert_gather = false;
    EXPECT_DOUBLE_EQ(step(Scaling::dynamic, RematPolicy::named), kept + 2 * 1.5);
}

// Tensor over four chips: rows of t D b = 2^16 x 2^11 bytes take 16 s at 2^23. There are four of
// them forward and six backward, half in a parallel block; the unembedding has one in each pass. If
// no output is saved, named remat repeats the sums.
TEST(BookStep, RowsOfBlocksOverTensor) {
    ModelSpec model = book_model(1);
    TrainingPlan plan = book_plan(1 << 16);
    plan.ways.tensor = 4;
    const DeviceMesh mesh(torus(4), {{"tensor", {{0, 1, 4}}}});
    const auto rows = [&] {
        return book_step(model, plan, mesh, step_rates(kNever, 0x1p22)).time.value() / 16;
    };
    EXPECT_DOUBLE_EQ(rows(), 4 + 6 + 2);
    plan.remat = {.policy = RematPolicy::named, .names = {}};
    EXPECT_DOUBLE_EQ(rows(), 4 + 6 + 1 + 2);
    plan.remat.names.save = {LayerTensor::out};
    EXPECT_DOUBLE_EQ(rows(), 4 + 6 + 2);
    plan.remat = {.policy = RematPolicy::block};
    EXPECT_DOUBLE_EQ(rows(), 4 + 8 + 2);
    // A norm also reads the MLP's sums.
    model.norms = 4;
    plan.remat = {.policy = RematPolicy::named, .names = {}};
    EXPECT_DOUBLE_EQ(rows(), 4 + 6 + 2 + 2);
    plan.remat.names.save = {LayerTensor::output};
    EXPECT_DOUBLE_EQ(rows(), 4 + 6 + 1 + 2);
    model.norms = 2;
    plan.remat = {.policy = RematPolicy::block};
    model.parallel_block = true;
    EXPECT_DOUBLE_EQ(rows(), 2 + 4 + 2);
    plan.remat = {.policy = RematPolicy::named, .names = {}};
    EXPECT_DOUBLE_EQ(rows(), 2 + 3 + 2);
}

// Two slices of two chips: both chips' gradients cross the
// slice's two hosts, 2 x 2 P / 2 x 2 bytes at 2 x 2^23.
TEST(BookStep, GroupsOfASliceShareItsHosts) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.ways.data = plan.ways.fsdp = 2;
    const DeviceMesh mesh(torus(2),
                          {{"data", {{topology::kSliceAxis, 1, 2}}}, {"fsdp", {{0, 1, 2}}}}, 2);
    MachineRates machine = step_rates(kNever, 0x1p200);
    machine.chips_per_slice = 2;
    machine.between_slices = {
        .pcie = sim::BytesPerSecond(1), .dcn = sim::BytesPerSecond(0x1p23), .hosts = 2};
    EXPECT_DOUBLE_EQ(book_step(book_model(2), plan, mesh, machine).time.value(), 2 * 3 + 2);
}

}  // namespace
}  // namespace podsim::workloads
