// Tiles that tokamax chooses, against its table and its rule by hand.
#include "scenarios/import/tokamax_tiles.h"

#include <gmock/gmock.h>

#include "tests/scenarios/import/maxtext_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

TEST(TokamaxTiles, OfShapesThatWereTuned) {
    const TokamaxMatmul gate{524288, 4096, 1536, 128};
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::forward, "tpu7x"), (TokamaxTile{256, 4096, 1536}));
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::dlhs, "tpu7x"), (TokamaxTile{1024, 1536, 1024}));
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::drhs, "tpu7x"), (TokamaxTile{512, 4096, 512}));
    // Two entries of one shape: Python keeps the second.
    EXPECT_EQ(tokamax_tile({131072, 7168, 2048, 256}, TokamaxPass::forward, "tpu7x"),
              (TokamaxTile{512, 3584, 1024}));
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::forward, "v6e"), (TokamaxTile{128, 128, 128}));
}

// 192 groups are in no table. Of (1024, 4096, 1536) two buffers of 4 + 6 M elements and three of 1.5 M are 50 MB of bf16, for which there are 25.2: 128 rows
// make 30.1 MB still, so that n is halved, 17.3 MB. Of the sum k is halved first: of (1024, 4096, 1536) rows take 23 MB and sums 37.7; k of 1024 12.6 MB
// of rows, 9.4 of sums.
TEST(TokamaxTiles, OfOthersAsTheyFitIntoVmem) {
    const TokamaxMatmul gate{393216, 4096, 1536, 192};
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::forward, "tpu7x"), (TokamaxTile{128, 4096, 768}));
    EXPECT_EQ(tokamax_tile(gate, TokamaxPass::drhs, "tpu7x"), (TokamaxTile{1024, 1024, 1536}));
    // dlhs: rows x n by n x k.
    EXPECT_EQ(tokamax_tile({393216, 1536, 4096, 192}, TokamaxPass::dlhs, "tpu7x"),
              (TokamaxTile{128, 4096, 768}));
    // Small ones stay whole.
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

// DeepSeek-V3 with 16 ways of experts: 16 groups of 256, 16 times the 32,768 rows of a device. Half of d_ff with tensor, and twice the rows.
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

// A constant in place of the running maximum.
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
