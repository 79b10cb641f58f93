// Costs of sparse and dense experts on a chip: tiles against a grid that is played step by step,
// FLOPs and bytes by hand.
#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

#include "tests/workloads/step_program_support.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/step/step.h"
#include "workloads/work/experts_work.h"
#include "workloads/work/grouped_tiles.h"

namespace podsim::workloads {
namespace {

using samples::Random;

/// A visit of a tile of rows for a group.
struct Visit {
    int tile = 0;
    int group = 0;
};

/// Returns for each group every tile of m rows that contains one of its rows, in the order of
/// megablox's make_group_metadata.
std::vector<Visit> visits_of(const std::vector<int>& ends, int m) {
    std::vector<Visit> visits;
    int begin = 0;
    for (int group = 0; group < static_cast<int>(ends.size()); ++group) {
        const int end = ends[static_cast<std::size_t>(group)];
        for (int tile = begin / m; tile * m < end; ++tile) {
            visits.push_back({tile, group});
        }
        begin = end;
    }
    return visits;
}

/// Counts the fetches of a pipeline: blocks whose position differs from that of the previous step.
class Fetches {
public:
    void step(std::tuple<int, int, int> place, double elements) {
        if (place != last_) {
            elements_ += elements;
        }
        last_ = place;
    }
    [[nodiscard]] double elements() const { return elements_; }

private:
    std::tuple<int, int, int> last_{-1, -1, -1};
    double elements_ = 0;
};

// All groups but the last end inside of tiles; tiles divide the sizes.
TEST(GroupedTiles, AreThoseOfTheGrid) {
    Random random(1);
    for (int i = 0; i < 500; ++i) {
        const int m = random.from(2, 9);
        const int kt = random.from(1, 3);
        const int nt = random.from(1, 3);
        const int tk = random.from(1, 5);
        const int tn = random.from(1, 5);
        const int groups = random.from(1, 6);
        std::vector<int> ends;
        int end = 0;
        for (int g = 0; g + 1 < groups; ++g) {
            end += random.from(1, 25);
            end += end % m == 0 ? 1 : 0;
            ends.push_back(end);
        }
        const int rows = (end / m + random.from(1, 3)) * m;
        ends.push_back(rows);
        const std::vector<Visit> visits = visits_of(ends, m);

        Fetches left, matrices;  // gmm: grid (n, visits, k)
        for (int n = 0; n < nt; ++n) {
            for (const Visit& visit : visits) {
                for (int k = 0; k < kt; ++k) {
                    left.step({visit.tile, k, 0}, m * tk);
                    matrices.step({visit.group, k, n}, tk * tn);
                }
            }
        }
        // The pipeline restarts on the tile of n with which the previous one ended. With a single
        // tile of rows (or group) the tile stays, which the closed form does not count.
        const double k = kt * tk;
        const double n = nt * tn;
        const ExpertTile tile{double(m), double(tk), double(tn)};
        const GroupedTiles forward = gmm_tiles(rows, groups, k, n, tile);
        EXPECT_EQ(forward.visits, static_cast<double>(visits.size()));
        EXPECT_EQ(forward.computed_of_group * groups, forward.visits * m);
        EXPECT_EQ(forward.results, rows * n);
        if (rows > m || kt > 1) {
            EXPECT_EQ(forward.rows, left.elements());
        }
        if (groups > 1 || nt > 1 || kt > 1) {
            EXPECT_EQ(forward.matrices, matrices.elements());
        }

        Fetches rows_of_k, rows_of_n;  // tgmm: grid (n, k, visits)
        for (int a = 0; a < nt; ++a) {
            for (int b = 0; b < kt; ++b) {
                for (const Visit& visit : visits) {
                    rows_of_k.step({visit.tile, b, 0}, m * tk);
                    rows_of_n.step({visit.tile, a, 0}, m * tn);
                }
            }
        }
        const GroupedTiles gradient = tgmm_tiles(rows, groups, k, n, tile);
        EXPECT_EQ(gradient.matrices, groups * k * n);
        if (rows > m) {
            EXPECT_EQ(gradient.rows, rows_of_k.elements() + rows_of_n.elements());
        }
    }
}

// A tile that is not filled is whole; a tile larger than its dimension is not. Two devices with
// half of the rows each have separate ends of groups: 1024 rows and 8 groups in tiles of 512 are 2
// + 7 tiles on one device, 2 (1 + 7) on two; each fetches its own matrices.
TEST(GroupedTiles, OfTwoDevices) {
    const ExpertTile tile{512, 64, 64};
    const GroupedTiles one = gmm_tiles(1024, 8, 64, 64, tile);
    const GroupedTiles two = on_devices(gmm_tiles(512, 8, 64, 64, tile), 2);
    EXPECT_EQ(one.visits, 9);
    EXPECT_EQ(two.visits, 16);
    EXPECT_EQ(two.computed_of_group, 16 * 512 / 8);
    EXPECT_EQ(one.matrices, 8 * 64 * 64);
    EXPECT_EQ(two.matrices, 2 * 8 * 64 * 64);
    EXPECT_EQ(two.results, 1024 * 64);
    EXPECT_EQ(two.computed_k, 64);
}

TEST(GroupedTiles, OfUnevenSides) {
    const GroupedTiles tiles = gmm_tiles(1000, 4, 2880, 700, {});
    EXPECT_EQ(tiles.visits, 2 + 3);
    EXPECT_EQ(tiles.computed_of_group, 5 * 512.0 / 4);
    EXPECT_EQ(tiles.computed_k, 3072);
    EXPECT_EQ(tiles.computed_n, 700);
    // Two rows on eight experts are two groups in one tile of two rows.
    EXPECT_EQ(gmm_tiles(2, 8, 2048, 2048, {}).visits, 2);
    EXPECT_EQ(gmm_tiles(2, 8, 2048, 2048, {}).computed_of_group, 2);
    EXPECT_EQ(gmm_tiles(0, 8, 2048, 2048, {}).visits, 0);
    EXPECT_EQ(tgmm_tiles(0, 8, 2048, 1024, {}).matrices, 8 * 2048.0 * 1024);
}

TrainingPlan plan_of(ExpertMatmul matmul, std::int64_t sequences, std::int64_t sequence) {
    TrainingPlan plan;
    plan.batch.sequence = sequence;
    plan.batch.tokens = sequences * sequence;
    plan.moe.matmul = matmul;
    return plan;
}

// DeepSeek-V3 on v5p has 6 sequences of 8192 a chip, 8 of 256 experts, widths 7168 and 2048: 768
// tiles of rows and 255 visited twice, 1.33 times the FLOPs. Gate and up are separate: each fetches
// its rows for both tiles of n and the experts' matrices by visit.
TEST(SparseExperts, OfDeepSeek) {
    const ModelSpec model = find_model("deepseek-v3");
    const Shard s = make_shard(model, plan_of(ExpertMatmul::sparse, 6, 8192));
    const double rows = 6 * 8192 * 8;
    const double d = 7168;
    const double f = 2048;
    const double visits = 768 + 255;
    const double weights = 2 * visits * d * f;
    const Compute up = experts_gate_up_forward(s);
    EXPECT_EQ(up.flops.value(), 2 * 2 * rows * d * f);
    EXPECT_DOUBLE_EQ(up.tiled, visits / 768);
    EXPECT_NEAR(up.tiled, 1.33, 0.003);
    EXPECT_EQ(up.hbm.value(), 2 * (2 * visits * 512 * d * 2 + weights + 2 * rows * f));
    const Compute down = experts_down_forward(s);
    EXPECT_EQ(down.flops.value(), 2 * rows * d * f);
    EXPECT_EQ((down.hbm - down.elementwise).value(),
              2 * visits * 512 * f * 7 + weights + 2 * rows * d);
    // The gradients of gate's and up's inputs are added
    // up in a separate pass: two read, one written.
    const Compute dx = experts_gate_up_input_gradient(s);
    EXPECT_EQ(dx.flops, up.flops);
    EXPECT_EQ((dx.hbm - dx.elementwise).value(),
              2 * (2 * visits * 512 * f * 7 + weights + 2 * rows * d));
    EXPECT_EQ(dx.elementwise.value(), 3 * 2 * rows * d);
    EXPECT_EQ(dx.vector.value(), rows * d);
    // Gradients of the matrices have 7 tiles of k and
    // 2 of n; each tile of rows is read once for each.
    const Compute dw = experts_gate_up_weight_gradient(s);
    EXPECT_EQ(dw.flops, up.flops);
    EXPECT_DOUBLE_EQ(dw.tiled, up.tiled);
    EXPECT_EQ(dw.hbm.value(), 2 * (2 * rows * (d * 2 + f * 7) + 2 * 256 * d * f));
}

// 4096 copies of 2048 tokens take 12 levels of a bitonic sort, 4096 x 12 x 13 / 4 comparisons. A
// gather of rows reads and writes every copy; a sum reads it once more and writes the rows.
TEST(SparseExperts, MoveTheirRows) {
    ModelSpec model = samples::one_layer();
    model.d_model = 32;
    model.experts = {.count = 4, .per_token = 2, .shared = 0, .d_ff = 32};
    TrainingPlan plan = plan_of(ExpertMatmul::ideal, 2, 1024);
    const Shard ideal = make_shard(model, plan);
    plan.moe.matmul = ExpertMatmul::sparse;
    const Shard sparse = make_shard(model, plan);
    plan.moe.custom_sort_vjp = false;
    const Shard scatters = make_shard(model, plan);
    const double copies = 2 * 4096 * 32;  // bytes
    const double rows = copies / 2;
    const double sort = 16 * 4096;
    const double comparisons = 4096 * 12 * 13 / 4.0;
    const auto more = [](Compute (*work)(const Shard&), const Shard& a, const Shard& b) {
        return (work(a).hbm - work(b).hbm).value();
    };
    // In the ideal form rows are read and copies written; copies that are sorted were made before.
    EXPECT_EQ(more(router_forward, sparse, ideal), sort + 2 * copies);
    EXPECT_EQ(more(router_forward, scatters, ideal), sort + 2 * copies - (rows + copies));
    EXPECT_EQ((router_forward(sparse).vector - router_forward(ideal).vector).value(),
              6 * comparisons);
    EXPECT_EQ(more(combine_forward, sparse, ideal), sort + 2 * copies);
    EXPECT_EQ(combine_forward(sparse).hbm.value(), sort + 2 * copies + copies + rows);
    EXPECT_EQ(more(combine_gradient, sparse, ideal), 2 * copies);
    EXPECT_EQ(more(router_input_gradient, sparse, ideal), 2 * copies);
    // A scatter-add writes zeros, reads gradients, and reads and writes sums.
    EXPECT_EQ(more(combine_gradient, scatters, ideal), 4 * copies);
    EXPECT_EQ(more(router_input_gradient, scatters, ideal), 3 * copies + rows - (copies + rows));
}

// The same 2048 tokens lie on tensor of 4: each shard sorts all rows, whole, and a quarter of the
// results. Rows that do not fit into VMEM move by index: copies are read and written, and twice
// that backward with scatter-adds. Rows that fit do not count.
TEST(SparseExperts, RowsBeyondVmemMoveByIndex) {
    ModelSpec model = samples::one_layer();
    model.d_model = 32;
    model.experts = {.count = 4, .per_token = 2, .shared = 0, .d_ff = 32};
    TrainingPlan plan = plan_of(ExpertMatmul::sparse, 2, 1024);
    plan.ways.tensor = 4;
    plan.attention.vmem = sim::Bytes(0);
    const double copies = 2 * 4096 * 32;  // bytes
    const Shard sorted = make_shard(model, plan);
    EXPECT_EQ(router_forward(sorted).gathered.value(), 2 * copies);
    EXPECT_EQ(router_input_gradient(sorted).gathered.value(), 2 * copies);
    EXPECT_EQ(combine_forward(sorted).gathered.value(), 2 * copies / 4);
    EXPECT_EQ(combine_gradient(sorted).gathered.value(), 2 * copies / 4);
    plan.moe.custom_sort_vjp = false;
    const Shard scatters = make_shard(model, plan);
    EXPECT_EQ(router_input_gradient(scatters).gathered.value(), 3 * copies);
    EXPECT_EQ(combine_gradient(scatters).gathered.value(), 4 * copies / 4);
    plan.attention.vmem = sim::Bytes(4 * copies);
    EXPECT_EQ(router_input_gradient(make_shard(model, plan)).gathered.value(), 0);
    EXPECT_TRUE(experts_gate_up_forward(sorted).kernel);
    EXPECT_TRUE(experts_gate_up_weight_gradient(sorted).kernel);
    EXPECT_FALSE(router_forward(sorted).kernel);
}

// 4096 sorted rows have 2 x 32 columns of gate's and up's biases and
// 32 of down's. They are gathered (read and written), then read by
// the addition; their gradients are added to the rows of the experts.
TEST(SparseExperts, BiasesAreARowForEachToken) {
    ModelSpec model = samples::one_layer();
    model.d_model = 32;
    model.gated_mlp = true;
    model.experts = {.count = 4, .per_token = 2, .shared = 0, .d_ff = 32};
    TrainingPlan plan = plan_of(ExpertMatmul::sparse, 2, 1024);
    plan.attention.vmem = sim::Bytes(0);
    const Shard without = make_shard(model, plan);
    model.mlp_bias = true;
    const Shard with = make_shard(model, plan);
    const double row = 4096.0 * 32 * 2;  // bytes
    const auto more = [&](Compute (*work)(const Shard&)) {
        return std::pair((work(with).hbm - work(without).hbm).value(),
                         (work(with).gathered - work(without).gathered).value());
    };
    EXPECT_EQ(more(experts_gate_up_forward), std::pair(2 * 3 * row, 2 * 2 * row));
    EXPECT_EQ(more(experts_down_forward), std::pair(3 * row, 2 * row));
    EXPECT_EQ(more(experts_gate_up_weight_gradient), std::pair(2 * 3 * row, 2 * 3 * row));
    EXPECT_EQ(more(experts_down_weight_gradient), std::pair(3 * row, 3 * row));
    EXPECT_EQ(more(experts_down_input_gradient), std::pair(0.0, 0.0));
}

// Mixtral on v6e has 12 sequences of 4096 a chip, 2 of 8 experts, capacity 1.25: 1280 places an
// expert and sequence. Dispatch and combine are 83.9 MFLOP a token each beside 881 MFLOP of
// experts, of which the model needs 705.
TEST(DenseExperts, OfMixtral) {
    const ModelSpec model = find_model("mixtral-8x7b");
    TrainingPlan plan = plan_of(ExpertMatmul::dense, 12, 4096);
    plan.experts.capacity_factor = 1.25;
    const Shard s = make_shard(model, plan);
    plan.moe.matmul = ExpertMatmul::ideal;
    plan.experts.capacity_factor = 1;
    const Shard ideal = make_shard(model, plan);
    const double tokens = 12 * 4096;
    const double d = 4096;
    const double masked = 2 * d * 4096 * 2 * 1.25 * tokens;
    EXPECT_EQ(s.experts.capacity, 1280);
    EXPECT_NEAR(masked / tokens, 83.9e6, 0.05e6);
    const auto more = [&](Compute (*work)(const Shard&)) {
        return (work(s).flops - work(ideal).flops).value();
    };
    EXPECT_EQ(more(router_forward), masked);
    EXPECT_EQ(combine_forward(s).flops.value(), masked);
    EXPECT_EQ(combine_gradient(s).flops.value(), 2 * masked);
    EXPECT_EQ(more(router_input_gradient), masked);
    const double experts =
        (experts_gate_up_forward(s).flops + experts_down_forward(s).flops).value();
    EXPECT_EQ(experts, 6 * d * 14336 * 2 * 1.25 * tokens);
    EXPECT_NEAR(experts / tokens, 881e6, 0.5e6);
    EXPECT_NEAR(2 * masked / experts, 0.19, 0.001);
    // Masks have 4096 x 8 x 1280 a sequence: 84 MB of weights and 42 MB of booleans.
    const double mask = 12 * 4096.0 * 8 * 1280;
    EXPECT_EQ(mask_bytes(s), 3 * mask);
    const double rows = 2 * tokens * d;
    const double places = 2 * 12 * 8 * 1280 * d;
    EXPECT_EQ(combine_forward(s).hbm.value(), rows + places + 2 * mask);
    EXPECT_EQ(combine_gradient(s).hbm.value(), 2 * (rows + places + 2 * mask));
    // The router writes masks; dispatch reads booleans and rows and writes places. In the ideal
    // form rows are read and 2 copies written.
    EXPECT_EQ((router_forward(s).hbm - router_forward(ideal).hbm).value(),
              3 * mask + (mask + rows + places) - 3 * rows);
}

// C = floor(ceil(S k / E) capacity_factor): 10 x 3 / 8 is 3.75, up to 4, times 1.2 gives 4 places.
TEST(DenseExperts, HaveWholePlaces) {
    ModelSpec model = samples::one_layer();
    model.experts = {.count = 8, .per_token = 3, .shared = 0, .d_ff = 32};
    TrainingPlan plan = plan_of(ExpertMatmul::dense, 5, 10);
    plan.experts.capacity_factor = 1.2;
    const Shard s = make_shard(model, plan);
    EXPECT_EQ(s.experts.capacity, 4);
    EXPECT_NEAR(s.experts.copies, 5 * 8 * 4, 1e-12);
}

// Without a capacity every expert computes every token: E / k times the FLOPs.
TEST(DenseExperts, OfAllTokens) {
    ModelSpec model = samples::one_layer();
    model.experts = {.count = 8, .per_token = 2, .shared = 0, .d_ff = 32};
    const Shard all = make_shard(model, plan_of(ExpertMatmul::dense_of_all, 1, 64));
    const Shard two = make_shard(model, plan_of(ExpertMatmul::ideal, 1, 64));
    EXPECT_EQ(experts_gate_up_forward(all).flops, experts_gate_up_forward(two).flops * 4);
    EXPECT_EQ(router_forward(all).flops, router_forward(two).flops);
}

// With FSDP alone each layer gathers all experts' weights in bf16: 256 x 3 x 7168 x 2048 x 2 B =
// 22.5 GB for DeepSeek-V3.
TEST(SparseExperts, GatherAllWeightsOverFsdp) {
    const ModelSpec model = find_model("deepseek-v3");
    TrainingPlan plan = plan_of(ExpertMatmul::sparse, 64, 4096);
    plan.ways.fsdp = 64;
    plan.precision.parameters = 4;
    double gathered = 0;
    for (const Op& op : build_step(model, plan).ops) {
        const auto* collective = std::get_if<Collective>(&op.work);
        if (collective != nullptr && op.layer == 10 && op.pass == Pass::forward &&
            collective->purpose == Purpose::weights) {
            gathered += collective->bytes.value();
        }
    }
    const double experts = 256.0 * 3 * 7168 * 2048 * 2;
    const LayerParameters layer = count_layer(model, {.experts = true});
    EXPECT_EQ(2.0 * static_cast<double>(layer.experts), experts);
    EXPECT_GE(gathered, experts);
    EXPECT_NEAR(gathered, 2.0 * static_cast<double>(layer.total()), 1e-3 * gathered);
}

std::string refusal(const TrainingPlan& plan) {
    return samples::message_of([&] { validate(plan, find_model("mixtral-8x7b")); });
}

TEST(ExpertPaths, RefuseWhatTheyCannotDo) {
    TrainingPlan plan = plan_of(ExpertMatmul::sparse, 8, 4096);
    plan.experts.capacity_factor = 1.25;
    EXPECT_EQ(
        refusal(plan),
        "capacity_factor of sparse experts, which take what comes; leave it out, or write moe: "
        "{matmul: dense}");
    plan.moe.matmul = ExpertMatmul::dense;
    plan.ways.context = 2;
    EXPECT_EQ(
        refusal(plan),
        "context = 2 with dense experts, whose places are of whole sequences; use the axis as "
        "fsdp, or write moe: {matmul: sparse}");
    plan.ways.context = 1;
    plan.experts.capacity_factor = 1;
    plan.ways.expert = 2;
    plan.experts.imbalance = 1.5;
    EXPECT_EQ(
        refusal(plan),
        "expert_imbalance of dense experts, which all work on equal rows; leave it out, or write "
        "moe: {matmul: sparse}");
    plan.experts.imbalance = 1;
    plan.moe.matmul = ExpertMatmul::dense_of_all;
    EXPECT_EQ(refusal(plan),
              "dense experts without a capacity, which all work on all tokens of a chip; write a "
              "capacity_factor, or use the axis as fsdp");
}

}  // namespace
}  // namespace podsim::workloads
