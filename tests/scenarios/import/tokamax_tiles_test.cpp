// Tiles that tokamax chooses, checked by hand against its table and its rule.
#include <gmock/gmock.h>

#include "scenarios/src/import/maxtext_experts.h"
#include "tests/scenarios/import/maxtext_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

TEST(TokamaxTiles, OfShapesThatWereTuned) {
    const TokamaxMatmul gate{524288, 4096, 1536, 128};
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::forward, "tpu7x"), (TokamaxTile{256, 4096, 1536}));
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::dlhs, "tpu7x"), (TokamaxTile{1024, 1536, 1024}));
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::drhs, "tpu7x"), (TokamaxTile{512, 4096, 512}));
    // Two entries have the same shape: Python keeps the second.
    EXPECT_EQ(tokamax_tile({131072, 7168, 2048, 256}, TokamaxPass::forward, "tpu7x"),
              (TokamaxTile{512, 3584, 1024}));
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::forward, "v6e"), (TokamaxTile{128, 128, 128}));
}

// No table has 192 groups. For (1024, 4096, 1536), two buffers of 4 + 6 M elements and three of
// 1.5 M are 50 MB of bf16; 25.2 MB are available. 128 rows still need 30.1 MB, so n is halved:
// 17.3 MB. For the sum k is halved first: for (1024, 4096, 1536) rows take 23 MB and sums 37.7;
// with k = 1024, rows take 12.6 MB and sums 9.4.
TEST(TokamaxTiles, OfOthersAsTheyFitIntoVmem) {
    const TokamaxMatmul gate{393216, 4096, 1536, 192};
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::forward, "tpu7x"), (TokamaxTile{128, 4096, 768}));
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::drhs, "tpu7x"), (TokamaxTile{1024, 1024, 1536}));
    // dlhs: rows x n by n x k.
    EXPECT_EQ(tokamax_tile({393216, 1536, 4096, 192}, TokamaxPass::dlhs, "tpu7x"),
              (TokamaxTile{128, 4096, 768}));
    // Small ones are not cut.
    EXPECT_EQ(tokamax_tile({65536, 512, 256, 8}, TokamaxPass::forward, "tpu7x"),
              (TokamaxTile{1024, 512, 256}));
}

class TokamaxImport : public MaxText {
protected:
    std::string training(std::vector<std::string> keys) {
        keys.insert(keys.end(), {"model_name=qwen3-235b-a22b", "per_device_batch_size=16",
                                 "max_target_length=4096", "ici_fsdp_parallelism=-1"});
        return line(keys, "training", "tpu7x-512");
    }
};

TEST_F(TokamaxImport, TakesItsTilesInBf16) {
    EXPECT_THAT(
        training({"use_tokamax_gmm=True", "wi_tile_fwd_batch_seq=128"}),
        HasSubstr("moe: {tiles: {gate_up_forward: [256, 4096, 1536], "
                  "gate_up_dlhs: [1024, 1536, 1024], gate_up_drhs: [512, 4096, 512], "
                  "down_forward: [512, 1536, 1536], down_dlhs: [1024, 1024, 1536], down_drhs: "
                  "[512, 512, 4096]}}"));
    EXPECT_THAT(training({"use_tokamax_gmm=False", "wi_tile_fwd_batch_seq=128"}),
                HasSubstr("tiles: {gate_up_forward: [128, 1024, 1024]}"));
    const std::vector<std::string> keys{"use_tokamax_gmm=True", "wi_tile_fwd_batch_seq=128",
                                        "model_name=qwen3-235b-a22b"};
    EXPECT_THAT(
        import(keys, "tpu7x-512").out,
        HasSubstr("#   wi_tile_fwd_batch_seq = 128: use_tokamax_gmm has tiles of its own\n"));
    const Outcome quantised =
        import({"use_tokamax_gmm=True", "quantization=fp8_full", "use_qwix_quantization=True",
                "wi_tile_fwd_batch_seq=128", "model_name=qwen3-235b-a22b"},
               "tpu7x-512");
    EXPECT_THAT(quantised.out, HasSubstr("tiles: {gate_up_forward: [128, 1024, 1024]}"));
    EXPECT_THAT(quantised.out + quantised.err,
                HasSubstr("tiles are those of the keys, which MaxText has not read there since "
                          "April 2026"));
}

// DeepSeek-V3 with expert parallelism of 16: 16 groups of 256, 16 times the 32,768 rows of a
// device. With tensor, half of d_ff and twice the rows.
TEST_F(TokamaxImport, SplitsExpertsAndMatricesAsTheMeshDoes) {
    const auto tiles = [this](std::vector<std::string> keys) {
        keys.insert(keys.end(), {"use_tokamax_gmm=True", "model_name=deepseek3-671b",
                                 "max_target_length=4096", "ici_fsdp_parallelism=-1"});
        return line(keys, "training", "tpu7x-256");
    };
    EXPECT_THAT(tiles({"per_device_batch_size=1", "ici_expert_parallelism=16"}),
                HasSubstr("gate_up_forward: [1024, 1024, 1024], gate_up_dlhs: [512, 2048, 1792]"));
    EXPECT_THAT(tiles({"per_device_batch_size=4", "ici_tensor_parallelism=2"}),
                HasSubstr("gate_up_forward: [512, 7168, 1024], gate_up_dlhs: [512, 1024, 7168]"));
}

// A constant replaces the running maximum.
TEST_F(TokamaxImport, KnowsTheMaximumOfLogits) {
    const std::string splash = "use_tokamax_splash=True";
    EXPECT_THAT(training({"attention=flash", splash, "use_max_logit_estimate=30"}),
                HasSubstr("known_max_logit: true"));
    EXPECT_THAT(training({"attention=flash", splash, "use_max_logit_estimate=-1"}),
                ::testing::Not(HasSubstr("known_max_logit")));
    EXPECT_THAT(training({"attention=flash", "use_max_logit_estimate=30"}),
                ::testing::Not(HasSubstr("known_max_logit")));
}

}  // namespace
}  // namespace podsim::scenarios
