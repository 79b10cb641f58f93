// Every operation outside of attention's dot products, written out: its FLOPs, its product, HBM
// bytes and operations of the vector unit on a shard whose sizes have no common factors.
#include <gtest/gtest.h>
#include <vector>

#include "workloads/plan/plan.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/experts_work.h"
#include "workloads/work/work.h"

namespace podsim::workloads {
namespace {

// Bytes an element are b for compute, p for parameters, d for gradients, o for moments. Weights
// have w as matmuls in the plan's precision read them, u as bf16 ones do, e as experts do.
constexpr double kB = 2;
constexpr double kP = 4;
constexpr double kD = 3;
constexpr double kO = 5;
constexpr double kW = 7;
constexpr double kU = 11;
constexpr double kE = 13;

constexpr double kTokens = 30;
constexpr double kRows = 10;
constexpr double kModel = 16;  // D
constexpr double kVocabulary = 37;
constexpr double kWidth = 19;  // of an MLP on this chip

Shard shard() {
    Shard s;
    s.tokens = kTokens;
    s.rows = kRows;
    s.d_model = kModel;
    s.vocabulary = kVocabulary;
    s.heads = 6;
    s.kv_heads = 3;
    s.head_dim = 4;
    s.value_dim = 5;
    s.precision = {.compute = kB, .parameters = kP, .gradients = kD, .optimizer_moment = kO};
    s.weight_bytes = kW;
    s.plain_weight_bytes = kU;
    s.weights_gathered = true;
    return s;
}

constexpr double kNormBytes = 4 * kRows * kModel * kB;
constexpr double kNormOps = kRows * kModel * (4 + 1);  // one RMS norm, the residual sum
constexpr double kNormBackwardOps = kRows * kModel * (9 + 1);

struct Product {
    double m = 0;
    double k = 0;
    double n = 0;
    double count = 1;
};

void expect_work(const Compute& work, const std::vector<Product>& products, double hbm,
                 double elementwise, double vector) {
    double flops = 0;
    ASSERT_EQ(work.matmuls.size(), products.size());
    for (std::size_t i = 0; i < products.size(); ++i) {
        EXPECT_EQ(work.matmuls[i].m, products[i].m);
        EXPECT_EQ(work.matmuls[i].k, products[i].k);
        EXPECT_EQ(work.matmuls[i].n, products[i].n);
        EXPECT_EQ(work.matmuls[i].count, products[i].count);
        flops += 2 * products[i].m * products[i].k * products[i].n * products[i].count;
    }
    EXPECT_EQ(work.flops.value(), flops);
    EXPECT_EQ(work.hbm.value(), hbm);
    EXPECT_EQ(work.elementwise.value(), elementwise);
    EXPECT_EQ(work.vector.value(), vector);
    EXPECT_FALSE(work.attention);
}

// The lookup reads r rows of the table and writes t. Backward reads t rows, reads and writes r rows
// of its gradient, and zeros the table first, unless the unembedding wrote it.
TEST(WorkByHand, EmbeddingReadsAndWritesRowsOfItsTable) {
    Shard s = shard();
    const double lookup = (kRows + kTokens) * kModel * kB;
    expect_work(embedding_lookup(s), {}, lookup, lookup, 0);
    s.positions = true;
    expect_work(embedding_lookup(s), {}, lookup, lookup, kTokens * kModel);
    const double rows = kTokens * kModel * kB + 2 * kRows * kModel * kD;
    const double table = kVocabulary * kModel * kD;
    expect_work(embedding_scatter_add(s, false), {}, rows + table, rows + table, kTokens * kModel);
    expect_work(embedding_scatter_add(s, true), {}, rows, rows, kTokens * kModel);
    // With tensor_transpose of 2 t rows have half of the columns; rows of the table are whole.
    s.transposed = 2;
    const double half = kTokens * kModel / 2;
    expect_work(embedding_lookup(s), {}, (kRows * kModel + half) * kB, (kRows * kModel + half) * kB,
                half);
    const double halves = half * kB + 2 * kRows * kModel * kD + table;
    expect_work(embedding_scatter_add(s, false), {}, halves, halves, half);
}

// There are g = 2 branches: gate and up.
TEST(WorkByHand, MlpsNormActivateAndMultiply) {
    const Shard s = shard();
    const double hidden = kTokens * kWidth;
    expect_work(gate_up_forward(s, kWidth, true), {{kTokens, kModel, 2 * kWidth}},
                (kTokens * kModel + 2 * hidden) * kB + kModel * 2 * kWidth * kW + kNormBytes,
                kNormBytes, kNormOps);
    expect_work(gate_up_forward(s, kWidth, false), {{kTokens, kModel, 2 * kWidth}},
                (kTokens * kModel + 2 * hidden) * kB + kModel * 2 * kWidth * kW, 0, 0);
    // Down reads gate and up and writes the hidden product: sigmoid and product 10, the gate 1.
    expect_work(down_forward(s, kWidth), {{kTokens, kWidth, kModel}},
                (hidden + kTokens * kModel) * kB + kWidth * kModel * kW + 3 * hidden * kB,
                3 * hidden * kB, 11 * hidden);
    // It reads gate and up and writes both gradients except those that the matmul writes: 2 g - 1.
    expect_work(down_input_gradient(s, kWidth), {{kTokens, kModel, kWidth}},
                (kTokens * kModel + hidden) * kB + kModel * kWidth * kW + 3 * hidden * kB,
                3 * hidden * kB, 17 * hidden);
    expect_work(down_weight_gradient(s, kWidth), {{kWidth, kTokens, kModel}},
                (hidden + kTokens * kModel) * kB + kWidth * kModel * kD, 0, 0);
    expect_work(gate_up_input_gradient(s, kWidth, true), {{kTokens, 2 * kWidth, kModel}},
                (2 * hidden + kTokens * kModel) * kB + 2 * kWidth * kModel * kW + kNormBytes,
                kNormBytes, kNormBackwardOps);
    expect_work(gate_up_input_gradient(s, kWidth, false), {{kTokens, 2 * kWidth, kModel}},
                (2 * hidden + kTokens * kModel) * kB + 2 * kWidth * kModel * kW, 0, 0);
    expect_work(gate_up_weight_gradient(s, kWidth, true), {{kModel, kTokens, 2 * kWidth}},
                (kTokens * kModel + 2 * hidden) * kB + kModel * 2 * kWidth * kD, 0, 0);
}

TEST(WorkByHand, PlainMlpsHaveOneBranch) {
    Shard s = shard();
    s.branches = 1;
    const double hidden = kTokens * kWidth;
    expect_work(gate_up_forward(s, kWidth, false), {{kTokens, kModel, kWidth}},
                (kTokens * kModel + hidden) * kB + kModel * kWidth * kW, 0, 0);
    expect_work(down_forward(s, kWidth), {{kTokens, kWidth, kModel}},
                (hidden + kTokens * kModel) * kB + kWidth * kModel * kW + 2 * hidden * kB,
                2 * hidden * kB, 10 * hidden);
    expect_work(down_input_gradient(s, kWidth), {{kTokens, kModel, kWidth}},
                (kTokens * kModel + hidden) * kB + kModel * kWidth * kW + hidden * kB, hidden * kB,
                14 * hidden);
}

// Tensors that remat drops are computed again with their weights' gradient: the normed rows are
// read and written, without the residual sum.
TEST(WorkByHand, RematMakesNormsAndActivationsAgain) {
    Shard s = shard();
    s.mlp_norms_again = s.activations_again = true;
    const double hidden = kTokens * kWidth;
    const double norm = 2 * kRows * kModel * kB;
    expect_work(gate_up_weight_gradient(s, kWidth, true), {{kModel, kTokens, 2 * kWidth}},
                (kTokens * kModel + 2 * hidden) * kB + kModel * 2 * kWidth * kD + norm, norm,
                4 * kRows * kModel);
    expect_work(gate_up_weight_gradient(s, kWidth, false), {{kModel, kTokens, 2 * kWidth}},
                (kTokens * kModel + 2 * hidden) * kB + kModel * 2 * kWidth * kD, 0, 0);
    expect_work(down_weight_gradient(s, kWidth), {{kWidth, kTokens, kModel}},
                (hidden + kTokens * kModel) * kB + kWidth * kModel * kD + 3 * hidden * kB,
                3 * hidden * kB, 11 * hidden);
    // Attention's norm has a separate switch.
    EXPECT_EQ(qkv_weight_gradient(s).elementwise.value(), 0);
    s.attention_norms_again = true;
    EXPECT_EQ(qkv_weight_gradient(s).elementwise.value(), norm);
    EXPECT_EQ(qkv_weight_gradient(s).vector.value(), 4 * kRows * kModel);
}

// With tensor_transpose of 2 the matmul is D / 2 by twice the columns.
TEST(WorkByHand, TransposedWaysMultiplyBlocks) {
    Shard s = shard();
    s.transposed = 2;
    const auto product = [](const Compute& work) {
        return std::vector<double>{work.matmuls[0].m, work.matmuls[0].k, work.matmuls[0].n};
    };
    using Sizes = std::vector<double>;
    const double half = kModel / 2;
    EXPECT_EQ(product(gate_up_forward(s, kWidth, true)), (Sizes{kTokens, half, 4 * kWidth}));
    EXPECT_EQ(product(down_forward(s, kWidth)), (Sizes{kTokens, 2 * kWidth, half}));
    EXPECT_EQ(product(down_input_gradient(s, kWidth)), (Sizes{kTokens, half, 2 * kWidth}));
    EXPECT_EQ(product(down_weight_gradient(s, kWidth)), (Sizes{2 * kWidth, kTokens, half}));
    EXPECT_EQ(product(gate_up_input_gradient(s, kWidth, true)), (Sizes{kTokens, 4 * kWidth, half}));
    EXPECT_EQ(product(gate_up_weight_gradient(s, kWidth, true)),
              (Sizes{half, kTokens, 4 * kWidth}));
    const double qkv = 2 * (6 * 4 + 3 * (4 + 5));
    EXPECT_EQ(product(qkv_forward(s)), (Sizes{kTokens, half, qkv}));
    EXPECT_EQ(product(qkv_input_gradient(s)), (Sizes{kTokens, qkv, half}));
    EXPECT_EQ(product(qkv_weight_gradient(s)), (Sizes{half, kTokens, qkv}));
    EXPECT_EQ(product(out_forward(s)), (Sizes{kTokens, 2 * 6 * 5, half}));
    EXPECT_EQ(product(out_input_gradient(s)), (Sizes{kTokens, half, 2 * 6 * 5}));
    EXPECT_EQ(product(out_weight_gradient(s)), (Sizes{2 * 6 * 5, kTokens, half}));
    EXPECT_EQ(product(logits_forward(s)), (Sizes{kTokens, half, 2 * kVocabulary}));
    EXPECT_EQ(product(logits_input_gradient(s)), (Sizes{kTokens, 2 * kVocabulary, half}));
    EXPECT_EQ(product(logits_weight_gradient(s)), (Sizes{half, kTokens, 2 * kVocabulary}));
}

// Logits are bf16 in every precision, and so are their weights; the final norm is one norm.
TEST(WorkByHand, LogitsAndLoss) {
    Shard s = shard();
    s.norms_of_block = 2;
    s.precision.matmul = MatmulDtype::int8;
    const double logits = kTokens * kVocabulary;
    const Compute forward = logits_forward(s);
    EXPECT_EQ(forward.dtype, MatmulDtype::bf16);
    expect_work(forward, {{kTokens, kModel, kVocabulary}},
                (kTokens * kModel + logits) * kB + kModel * kVocabulary * kU + kNormBytes,
                kNormBytes, kNormOps);
    // The loss reads every logit and overwrites it with its gradient.
    expect_work(loss(s), {}, 2 * logits * kB, 2 * logits * kB, 9 * logits);
    expect_work(logits_input_gradient(s), {{kTokens, kVocabulary, kModel}},
                (logits + kTokens * kModel) * kB + kVocabulary * kModel * kU + kNormBytes,
                kNormBytes, kNormBackwardOps);
    expect_work(logits_weight_gradient(s), {{kModel, kTokens, kVocabulary}},
                (kTokens * kModel + logits) * kB + kModel * kVocabulary * kD, 0, 0);
}

// Both operands are quantised as they are read, with 4 operations an element (gathered weights come
// quantised), and the result is scaled back with 1.
TEST(WorkByHand, QuantisedMatmuls) {
    Shard s = shard();
    s.precision.matmul = MatmulDtype::fp8;
    s.weights_quantised = true;
    const double in = kTokens * kModel;
    const double out = kTokens * 2 * kWidth;
    const double weights = kModel * 2 * kWidth;
    EXPECT_EQ(gate_up_forward(s, kWidth, false).vector.value(), 4 * in + out);
    EXPECT_EQ(gate_up_weight_gradient(s, kWidth, false).vector.value(), 4 * (in + out) + weights);
    EXPECT_EQ(gate_up_forward(s, kWidth, false).dtype, MatmulDtype::fp8);
    s.weights_quantised = false;
    EXPECT_EQ(gate_up_forward(s, kWidth, false).vector.value(), 4 * (in + weights) + out);
}

// 12 copies of tokens use this chip's 3 of 24 experts, 2 a token; its own tokens make 20 copies.
Shard shard_with_experts() {
    Shard s = shard();
    s.experts = {.routed = 24,
                 .held = 3,
                 .reached = 3,
                 .per_token = 2,
                 .gathered = true,
                 .weight_bytes = kE,
                 .tokens = 12,
                 .copies = 60,
                 .d_ff = 7,
                 .shared_width = 0};
    return s;
}

// r of t rows are this chip's: it has r / t = 1/3 of the 60 copies that its tensor group makes.
TEST(WorkByHand, RouterCopiesRowsForTheirExperts) {
    const Shard s = shard_with_experts();
    const double copies = 60.0 * kRows / kTokens * kModel;
    const double copied = (kRows * kModel + copies) * kB;
    const double choice = kRows * 24 * (7 + 2);  // softmax, 2 comparisons a logit
    const double matmul = (kRows * kModel + kRows * 24) * kB + kModel * 24 * kU;
    expect_work(router_forward(s), {{kRows, kModel, 24}}, matmul + kNormBytes + copied,
                kNormBytes + copied, kNormOps + choice);
    expect_work(router_input_gradient(s), {{kRows, 24, kModel}}, matmul + kNormBytes + copied,
                kNormBytes + copied, kNormBackwardOps + copies + kRows * 24 * 4);
    expect_work(router_weight_gradient(s), {{kModel, kRows, 24}},
                (kRows * kModel + kRows * 24) * kB + kModel * 24 * kD, 0, 0);
    expect_work(combine_forward(s), {}, copied, copied, 2 * copies);
    // It also reads the outputs of the experts, which the router's weights multiply.
    expect_work(combine_gradient(s), {}, copied + copies * kB, copied + copies * kB, 3 * copies);
}

TEST(WorkByHand, ExpertsMultiplyTheirShareOfTokens) {
    Shard s = shard_with_experts();
    const double hidden = 12 * 7;
    expect_work(experts_gate_up_forward(s), {{4, kModel, 14, 3}},
                12 * (kModel + 14) * kB + 3 * kModel * 14 * kE, 0, 0);
    expect_work(experts_down_forward(s), {{4, 7, kModel, 3}},
                12 * (7 + kModel) * kB + 3 * 7 * kModel * kE + 3 * hidden * kB, 3 * hidden * kB,
                11 * hidden);
    expect_work(experts_down_input_gradient(s), {{4, kModel, 7, 3}},
                12 * (kModel + 7) * kB + 3 * kModel * 7 * kE + 3 * hidden * kB, 3 * hidden * kB,
                17 * hidden);
    expect_work(experts_gate_up_input_gradient(s), {{4, 14, kModel, 3}},
                12 * (14 + kModel) * kB + 3 * 14 * kModel * kE, 0, 0);
    expect_work(experts_down_weight_gradient(s), {{7, 4, kModel, 3}},
                12 * (7 + kModel) * kB + 3 * 7 * kModel * kD, 0, 0);
    expect_work(experts_gate_up_weight_gradient(s), {{kModel, 4, 14, 3}},
                12 * (kModel + 14) * kB + 3 * kModel * 14 * kD, 0, 0);
    s.activations_again = s.mlp_norms_again = true;
    EXPECT_EQ(experts_down_weight_gradient(s).elementwise.value(), 3 * hidden * kB);
    EXPECT_EQ(router_weight_gradient(s).elementwise.value(), 2 * kRows * kModel * kB);
    // Quantised weights that are not gathered are quantised as they are read.
    s.precision.matmul = MatmulDtype::int8;
    s.experts.quantised = true;
    EXPECT_EQ(experts_gate_up_forward(s).vector.value(), 4 * 12 * kModel + 12 * 14);
    EXPECT_EQ(experts_gate_up_weight_gradient(s).vector.value(),
              4 * 12 * (kModel + 14) + 3 * kModel * 14);
    s.experts.quantised = false;
    EXPECT_EQ(experts_gate_up_forward(s).vector.value(),
              4 * (12 * kModel + 3 * kModel * 14) + 12 * 14);
}

// Without tokens experts read no weights, but their gradients are written, as zeros.
TEST(WorkByHand, ExpertsWithoutTokens) {
    Shard s = shard_with_experts();
    s.experts.tokens = 0;
    s.precision.matmul = MatmulDtype::int8;
    s.experts.gathered = false;
    expect_work(experts_gate_up_forward(s), {{0, kModel, 14, 3}}, 0, 0, 0);
    expect_work(experts_gate_up_weight_gradient(s), {{kModel, 0, 14, 3}}, 3 * kModel * 14 * kD, 0,
                0);
}

// Queries have 9 latent columns, keys and values 7, of which 2 rope columns belong to no head.
Shard with_latents() {
    Shard s = shard();
    s.latent = {.ways = 3, .width = 18, .q_rank = 9, .kv_rank = 7, .rope_dim = 2, .direct = 0};
    return s;
}

TEST(WorkByHand, LatentProjections) {
    Shard s = with_latents();
    const double up = 6 * (4 - 2 + 5);
    const double columns = 18.0 / 3;
    expect_work(latent_forward(s), {{kTokens, kModel, columns}},
                kTokens * (kModel + columns) * kB + kModel * columns * kW + kNormBytes, kNormBytes,
                kNormOps);
    expect_work(latent_input_gradient(s), {{kTokens, columns, kModel}},
                kTokens * (kModel + columns) * kB + kModel * columns * kW + kNormBytes, kNormBytes,
                kNormBackwardOps);
    expect_work(latent_weight_gradient(s), {{kModel, kTokens, columns}},
                kTokens * (kModel + columns) * kB + kModel * columns * kD, 0, 0);
    s.attention_norms_again = true;
    EXPECT_EQ(latent_weight_gradient(s).elementwise.value(), 2 * kRows * kModel * kB);
    // 6 queries and the shared key rotate 2 columns, 3 operations each; norms have 9 + 7.
    const double rotated = kTokens * 7 * 2 * 3;
    // Operands, each read and written: 6 queries of 4; 2 key columns become 4; values of 5.
    const double together = kTokens * 6 * (2 * 4 + (2 + 4) + 2 * 5) * kB;
    // The rotated columns go through HBM 5 times, 7 backward (QueriesAndKeysAreNormedAndRotated).
    const double once = kTokens * 7 * 2 * kB;
    expect_work(qkv_forward(s), {{kTokens, 9, 6 * 4}, {kTokens, 7, up}},
                kTokens * (9 + 24 + 7 + up) * kB + (9 * 24 + 7 * up) * kW + together + 5 * once,
                together + 5 * once, kTokens * 16 * 4 + rotated);
    expect_work(qkv_input_gradient(s), {{kTokens, 6 * 4, 9}, {kTokens, up, 7}},
                kTokens * (9 + 24 + 7 + up) * kB + (9 * 24 + 7 * up) * kW + together + 7 * once,
                together + 7 * once, kTokens * 16 * 9 + rotated);
    expect_work(qkv_weight_gradient(s), {{9, kTokens, 6 * 4}, {7, kTokens, up}},
                kTokens * (9 + 24 + 7 + up) * kB + (9 * 24 + 7 * up) * kD, 0, 0);
    // Queries without a rank come from the rows, beside the latents.
    s.latent.q_rank = 0;
    s.latent.direct = 24;
    EXPECT_EQ(latent_forward(s).matmuls[0].n, columns + 24);
    EXPECT_EQ(qkv_forward(s).matmuls.size(), 1U);
    EXPECT_EQ(qkv_input_gradient(s).matmuls.size(), 1U);
    EXPECT_EQ(qkv_weight_gradient(s).matmuls.size(), 1U);
    EXPECT_EQ(qkv_forward(s).matmuls[0].k, 7);
}

// Norms of queries and keys have (6 + 3) x 4 columns, and as many rotate. Kernels read them, write
// halves, read both and write rotated ones; backward they first write the product with the sine. A
// norm reads and writes, and backward reads the gradient too. Columns in VMEM stay there.
TEST(WorkByHand, QueriesAndKeysAreNormedAndRotated) {
    Shard s = shard();
    const double columns = kTokens * (6 + 3) * 4;
    EXPECT_EQ(qkv_forward(s).vector.value(), kNormOps + 3 * columns);
    EXPECT_EQ(qkv_input_gradient(s).vector.value(), kNormBackwardOps + 3 * columns);
    EXPECT_EQ(qkv_forward(s).apart.value(), 5 * columns * kB);
    EXPECT_EQ(qkv_input_gradient(s).apart.value(), 7 * columns * kB);
    s.qk_norm = true;
    EXPECT_EQ(qkv_forward(s).apart.value(), (5 + 2) * columns * kB);
    EXPECT_EQ(qkv_input_gradient(s).apart.value(), (7 + 3) * columns * kB);
    s.v_norm = true;
    EXPECT_EQ(qkv_forward(s).apart.value(), (5 + 2) * columns * kB + 2 * kTokens * 3 * 5 * kB);
    s.v_norm = false;
    s.vmem = 2 * columns * kB;
    EXPECT_EQ(qkv_forward(s).apart.value(), 0);
    s.vmem = 0;
    s.rotary = false;
    s.qk_norm = true;
    EXPECT_EQ(qkv_forward(s).vector.value(), kNormOps + 4 * columns);
    EXPECT_EQ(qkv_input_gradient(s).vector.value(), kNormBackwardOps + 9 * columns);
    s.layer_norm = true;
    s.norms_of_block = 2;
    EXPECT_EQ(gate_up_forward(s, kWidth, true).vector.value(), kRows * kModel * (2 * 7 + 1));
    EXPECT_EQ(gate_up_input_gradient(s, kWidth, true).vector.value(),
              kRows * kModel * (2 * 12 + 1));
    EXPECT_EQ(logits_forward(s).vector.value(), kRows * kModel * (7 + 1));
    EXPECT_EQ(logits_input_gradient(s).vector.value(), kRows * kModel * (12 + 1));
    const double qkv = 6 * 4 + 3 * (4 + 5);
    EXPECT_EQ(qkv_forward(s).hbm.value(),
              kTokens * (kModel + qkv) * kB + kModel * qkv * kW + kNormBytes + 2 * columns * kB);
    EXPECT_EQ(qkv_weight_gradient(s).hbm.value(),
              kTokens * (kModel + qkv) * kB + kModel * qkv * kD);
    EXPECT_EQ(out_forward(s).hbm.value(), kTokens * (30 + kModel) * kB + 30 * kModel * kW);
    EXPECT_EQ(out_input_gradient(s).hbm.value(), kTokens * (30 + kModel) * kB + 30 * kModel * kW);
    EXPECT_EQ(out_weight_gradient(s).hbm.value(), kTokens * (30 + kModel) * kB + 30 * kModel * kD);
}

// Adam reads parameter, gradient and two moments, writes all but the gradient. SGD has no moments.
TEST(WorkByHand, OptimizersReadAndWriteTheirState) {
    const Precision precision = shard().precision;
    const double adam = 100 * (2 * kP + kD + 4 * kO);
    expect_work(optimizer_update(100, Optimizer::adam, precision), {}, adam, adam, 2200);
    expect_work(optimizer_update(100, Optimizer::adam, precision, 6), {}, adam + 600, adam + 600,
                2200);
    expect_work(optimizer_update(100, Optimizer::sgd, precision), {}, 100 * (2 * kP + kD),
                100 * (2 * kP + kD), 200);
}

}  // namespace
}  // namespace podsim::workloads
