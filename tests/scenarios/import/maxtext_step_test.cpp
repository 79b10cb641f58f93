// The effect of keys on a step: tensors kept for the backward pass, the layout of sizes on axes,
// and notes on keys without a counterpart.
#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/import/maxtext_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MaxTextStep : public MaxText {
protected:
    std::string remat(std::vector<std::string> keys) {
        keys.emplace_back("remat_policy=custom");
        const std::string training = line(keys, "training");
        const std::size_t from = training.find("remat: ");
        const std::size_t to = training.find(training[from + 7] == '{' ? '}' : ',', from);
        return training.substr(from, to - from);
    }
    std::string warning(const std::vector<std::string>& keys) { return import(keys).err; }
};

// models/gpt3.py names the one projection qkv_proj; layers/linears.py names the MLP's first matmul
// mlpwi if there is one; moe.py has its own names.
TEST_F(MaxTextStep, KeepsTheTensorsThatItsBlockNames) {
    EXPECT_EQ(remat({"model_name=gpt3-175b", "mlpwi=device", "qkv_proj=device"}),
              "remat: {save: [qkv_proj, mlp_gate_up]");
    EXPECT_EQ(remat({"model_name=llama3.1-8b", "mlpwi=device", "qkv_proj=device"}), "remat: full");
    EXPECT_THAT(import({"model_name=llama3.1-8b", "remat_policy=custom", "qkv_proj=device",
                        "--write", path("a.yaml")})
                    .out,
                HasSubstr("changes nothing:\n  qkv_proj = device: a tensor of fused_qkv alone\n"));
    EXPECT_EQ(remat({"model_name=llama3.1-8b", "fused_qkv=true", "qkv_proj=offload"}),
              "remat: {offload: [qkv_proj]");
    EXPECT_EQ(remat({"model_name=mixtral-8x7b", "moe_mlpwi_0=device", "moe_mlpwi_1=device",
                     "moe_mlpwo=offload"}),
              "remat: {save: [mlp_gate_up], offload: [mlp_out]");
    EXPECT_EQ(remat({"model_name=mixtral-8x7b", "mlpwi_0=device", "moe_mlpwi_1=device"}),
              "remat: {save: [mlp_gate_up]");
    EXPECT_EQ(remat({"model_name=gpt3-175b", "query_proj=device", "key_proj=device",
                     "value_proj=device"}),
              "remat: {save: [qkv_proj]");
    // In the sparse path the second has one name (moe.py).
    EXPECT_EQ(remat({"model_name=mixtral-8x7b", "mlpwi_0=device", "mlpwi_1=device"}),
              "remat: full");
    EXPECT_EQ(remat({"model_name=mixtral-8x7b", "mlpwi_0=device", "mlpwi_1=device",
                     "sparse_matmul=false"}),
              "remat: {save: [mlp_gate_up]");
    EXPECT_EQ(
        warning({"model_name=mixtral-8x7b", "remat_policy=custom", "moe_mlpwi_0=device"}),
        "warning: moe_mlpwi_0=device is not expressed: podsim keeps both of an expert's first "
        "matmuls or none: they are computed again\n");
    EXPECT_EQ(warning({"model_name=deepseek3-671b", "remat_policy=custom", "mla_q=device"}),
              "warning: mla_q=device is not expressed: podsim keeps all of latent attention's "
              "projections (query_proj, key_proj and value_proj) or none\n");
}

// configs/models/mistral-7b.yml and models/mistral.py have no window.
TEST_F(MaxTextStep, MistralSeesTheWholeSequence) {
    EXPECT_EQ(line({"model_name=mistral-7b"}, "model"), "model: {base: mistral-7b, window: 0}");
}

// max_utils, create_device_mesh: allow_split_physical_axes or False.
TEST_F(MaxTextStep, MapsSizesAsJax) {
    const std::vector<std::string> sixteen{"model_name=llama3.1-8b", "ici_tensor_parallelism=16"};
    EXPECT_EQ(line(sixteen, "mesh_mapping"), "mesh_mapping: jax");
    EXPECT_EQ(line({"model_name=llama3.1-8b"}, "mesh_mapping"), "");  // one axis has all
    const std::string split = "allow_split_physical_axes=true";
    std::vector<std::string> four{"model_name=llama3.1-8b", "ici_tensor_parallelism=4"};
    EXPECT_EQ(warning(four),
              "warning: allow_split_physical_axes=False is not expressed: JAX finds no mesh of "
              "these sizes on 16x16, so that MaxText does not run there; podsim's own mapping is "
              "taken\n");
    four.push_back(split);
    EXPECT_EQ(line(four, "mesh_mapping"), "mesh_mapping: jax_split");
}

// JAX has special orders for them (mesh_utils.py, device_kind_handler_dict), and cuts them into
// any sizes.
TEST_F(MaxTextStep, MapsSmallSlicesAsJax) {
    const std::vector<std::string> twos{"model_name=llama3.1-8b", "ici_data_parallelism=2",
                                        "ici_fsdp_parallelism=2", "ici_tensor_parallelism=2"};
    const Outcome eight = import(twos, "v6e-8");
    EXPECT_EQ(eight.err, "");
    EXPECT_THAT(eight.out, HasSubstr("\nmesh: {data: 2, fsdp: 2, tensor: 2}\nmesh_mapping: jax\n"));
    EXPECT_THAT(eight.out, HasSubstr("# note: JAX orders the 8 chips of 2x4 itself: groups of data "
                                     "have other members here (there they are no factors of "
                                     "axes)\n"));
    EXPECT_THAT(import(twos, "v5p-16").out,
                HasSubstr("8 chips of 2x2x2 itself: groups of data and fsdp have other members"));
    EXPECT_THAT(import({"model_name=llama3.1-8b"}, "v6e-8").out, Not(HasSubstr("itself")));
    const Scenario scenario = load_scenario(write(eight.out, "eight.yaml"));
    EXPECT_EQ(scenario.step().mesh_axes, (std::vector<std::string>{"y/2", "y%2", "x"}));
}

// A file of early 2024 has no sparse_matmul: without megablox tokens go through masks
// (layers/linears.py).
TEST_F(MaxTextStep, MegabloxAloneSaysHowExpertsAreMultiplied) {
    std::ifstream file(source_folder() + "/tests/scenarios/import/maxtext/base-2025.yml");
    std::string older{std::istreambuf_iterator<char>(file), {}};
    const std::string key = "sparse_matmul: True\n";
    ASSERT_NE(older.find(key), std::string::npos);
    older.erase(older.find(key), key.size());
    const auto experts_of = [&](const std::string& megablox) {
        const Outcome outcome =
            podsim({"import", "maxtext", write(older, "base.yml"), "model_name=mixtral-8x7b",
                    megablox, "capacity_factor=1.25", "compile_topology=v6e-256"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.out.find("capacity_factor: 1.25, moe: {matmul: dense}") != std::string::npos;
    };
    EXPECT_TRUE(experts_of("megablox=False"));
    EXPECT_FALSE(experts_of("megablox=True"));
}

// MultiTokenPredictionBlock: a projection, a layer of the decoder and the output head once more
// for each.
TEST_F(MaxTextStep, LayersOfFurtherTokens) {
    EXPECT_EQ(line({"model_name=llama3.1-8b", "mtp_num_layers=1"}, "model"),
              "model: {base: llama-3-8b, mtp_layers: 1}");
    EXPECT_EQ(
        line({"model_name=mistral-7b", "mtp_num_layers=2", "mtp_loss_scaling_factor=0.3"}, "model"),
        "model: {base: mistral-7b, window: 0, mtp_layers: 2}");
    EXPECT_EQ(line({"model_name=llama3.1-8b", "mtp_num_layers=0"}, "model"), "model: llama-3-8b");
}

// Gemma 4's own config shares keys and values of global layers, which have sizes of their own.
TEST_F(MaxTextStep, SizesOfGlobalLayersMayBeOverridden) {
    const std::string own = "override_model_config=true";
    EXPECT_EQ(warning({"model_name=gemma4-31b", own, "share_kv_projections=false"}),
              "warning: share_kv_projections=false is not expressed: keys and values are what the "
              "model's own block says\n");
    EXPECT_EQ(warning({"model_name=gemma4-31b", own, "share_kv_projections=true"}), "");
    EXPECT_NE(line({"model_name=gemma4-31b", own, "global_head_dim=256", "global_num_kv_heads=8"},
                   "model")
                  .find("global: {kv_heads: 8, head_dim: 256, shared_kv: true}"),
              std::string::npos);
}

TEST_F(MaxTextStep, WarnsOfWhatItLeavesOut) {
    EXPECT_EQ(warning({"model_name=llama3.1-8b", "dtype=float32"}),
              "warning: dtype=float32 is not expressed: podsim computes in bf16, or in what "
              "quantization says\n");
    EXPECT_EQ(warning({"model_name=llama3.1-8b", "attention_type=global",
                       "optimizer_memory_host_offload=False", "mtp_num_layers=0"}),
              "");
    EXPECT_EQ(warning({"model_name=llama3.1-8b", "optimizer_memory_host_offload=True"}),
              "warning: optimizer_memory_host_offload=True is not expressed: the optimizer's state "
              "stays in HBM here\n");
    EXPECT_EQ(warning({"model_name=mixtral-8x7b", "sparse_matmul=false"}), "");
    EXPECT_NE(line({"model_name=mixtral-8x7b", "sparse_matmul=false"}, "training")
                  .find("moe: {matmul: dense}"),
              std::string::npos);
    for (const char* const kernel : {"cudnn_flash_te", "cudnn_flash_jax"}) {
        const std::string said = std::string("attention=") + kernel;
        refused({"model_name=llama3.1-8b", said},
                said + ": attention: " + kernel +
                    " is a kernel of NVIDIA's GPUs; allowed: autoselected, dot_product, flash");
    }
    refused({"model_name=llama3.1-8b", "attention=flashh"},
            "attention=flashh: attention: unknown kernel 'flashh'; allowed: autoselected, "
            "dot_product, flash");
}

// attention_op.py: dot_product computes all scores, in float32 if one of two keys is set;
// `autoselected` uses it below 128 tokens. Without a flash kernel no tensor has the name `context`,
// and names keep attention_out.
TEST_F(MaxTextStep, AttentionHasTheMemoryOfItsKernel) {
    const auto training = [&](std::vector<std::string> keys) {
        keys.emplace_back("model_name=llama3.1-8b");
        return line(keys, "training");
    };
    const std::string unfused = "attention: full, attention_kernel: dot_product";
    EXPECT_THAT(training({"attention=dot_product"}), HasSubstr(unfused + ", clip"));
    EXPECT_THAT(training({"attention=dot_product", "float32_logits=true"}),
                HasSubstr(unfused + ", attention_scores: fp32, clip"));
    EXPECT_THAT(training({"attention=dot_product", "float32_qk_product=True"}),
                HasSubstr(unfused + ", attention_scores: fp32, clip"));
    EXPECT_THAT(
        training({"attention=autoselected", "max_target_length=64", "per_device_batch_size=1"}),
        HasSubstr(unfused));
    for (const char* const kernel : {"attention=autoselected", "attention=flash"}) {
        EXPECT_THAT(training({kernel, "max_target_length=128", "per_device_batch_size=1",
                              "float32_logits=true"}),
                    Not(HasSubstr("dot_product")));
    }
    const std::string dot = "attention=dot_product";
    EXPECT_THAT(training({dot, "remat_policy=minimal_with_context"}), HasSubstr("remat: minimal,"));
    EXPECT_THAT(training({dot, "remat_policy=minimal_flash"}), HasSubstr("remat: minimal,"));
    EXPECT_THAT(training({dot, "remat_policy=save_dot_with_context_except_mlp"}),
                HasSubstr("remat: save_dot_except_mlp,"));
    EXPECT_THAT(training({"attention=flash", "remat_policy=minimal_with_context"}),
                HasSubstr("remat: minimal_with_context,"));
    EXPECT_EQ(remat({"model_name=llama3.1-8b", dot, "context=device"}), "remat: full");
    EXPECT_EQ(remat({"model_name=llama3.1-8b", dot, "attention_out=device"}),
              "remat: {save: [attention_out]");
    EXPECT_EQ(remat({"model_name=llama3.1-8b", "attention=flash", "context=device"}),
              "remat: {save: [context]");
}

// Substrings of their names are keys that change nothing (dq_reduction_steps has nothing to do with
// the run's length).
TEST_F(MaxTextStep, WarnsOfKeysThatOnlySoundHarmless) {
    const auto warned = [&](const std::string& setting, const std::string& why) {
        EXPECT_EQ(warning({"model_name=gemma3-12b", setting}),
                  "warning: " + setting + " is not expressed: " + why + "\n");
    };
    warned("use_iota_embed=true",
           "the look-up as a matmul of 2 V D FLOPs a token each way: podsim times a look-up");
    warned("use_jax_splash=true", "JAX's own splash attention: podsim times the kernel of MaxText");
    warned("dq_reduction_steps=3", "how the fused backward kernel adds up dq is not modelled");
    warned("num_communication_overlapping_steps=2",
           "every step reduces its gradients over all slices here");
    warned("dropout_rate=0.1", "dropout is not modelled");
    warned("int8_training=true", "podsim reads quantization=int8 alone");
    const std::string local = "local layers have the attention kernel of the others here";
    warned("local_sa_use_fused_bwd_kernel=true", local);
    warned("local_sa_block_kv=1024", local);
    EXPECT_EQ(warning({"model_name=gemma3-12b", "local_sa_use_fused_bwd_kernel=None",
                       "local_sa_block_q=512", "use_iota_embed=False", "dropout_rate=0",
                       "dq_reduction_steps=0"}),
              "");
}

// train.py casts float32 gradients, those of float32 weights, to grad_dtype; here they are bf16.
TEST_F(MaxTextStep, GradientsAreBf16) {
    const std::string model = "model_name=llama3.1-8b";
    EXPECT_EQ(warning({model, "grad_dtype=bfloat16"}), "");
    EXPECT_EQ(warning({model}), "");
    EXPECT_EQ(warning({model, "grad_dtype=float32"}),
              "warning: grad_dtype=float32 is not expressed: gradients are bf16 here, as reduced "
              "and as stored\n");
    const Outcome bf16 = import({model, "grad_dtype=float32", "weight_dtype=bfloat16"});
    EXPECT_EQ(bf16.err, "");
    EXPECT_THAT(bf16.out, HasSubstr("#   grad_dtype = float32: gradients of bfloat16 weights are "
                                    "bfloat16\n"));
}

// moe.py: only dense_matmul reads it.
TEST_F(MaxTextStep, CapacitiesAreThoseOfDenseExperts) {
    EXPECT_THAT(import({"model_name=mixtral-8x7b", "capacity_factor=1.25"}).out,
                HasSubstr("#   capacity_factor = 1.25: read with sparse_matmul=false alone\n"));
    EXPECT_THAT(
        import({"model_name=mixtral-8x7b", "capacity_factor=1.25", "sparse_matmul=false"}).out,
        HasSubstr("(of the file)\n#   capacity_factor = 1.25\n"));
}

// Qwix's rule of fp8_full has one method each for weights, activations and gradients
// (quantizations.py); others have none.
TEST_F(MaxTextStep, ScalesAreFixedWhereAllAre) {
    const std::string weights = "weight_quantization_calibration_method=fixed,-224,224";
    const std::string acts = "act_quantization_calibration_method=fixed,-224,224";
    const std::string grads = "bwd_quantization_calibration_method=fixed,-57344,57344";
    const auto imported = [&](std::vector<std::string> keys, const std::string& precision) {
        keys.insert(keys.end(), {"model_name=llama3.1-8b", "quantization=" + precision,
                                 "use_qwix_quantization=True"});
        return import(keys, "tpu7x-128");
    };
    const auto training = [](const Outcome& outcome) {
        const std::size_t at = outcome.out.find("\ntraining: ");
        return outcome.out.substr(at, outcome.out.find(", remat", at) - at);
    };
    const std::string fp8 = "\ntraining: {parameters: fp32, precision: fp8";
    EXPECT_EQ(training(imported({}, "fp8_full")), fp8);
    const Outcome recipe = imported({weights, acts}, "fp8_full");
    EXPECT_EQ(training(recipe), fp8 + ", scaling: fixed");
    EXPECT_THAT(recipe.out, HasSubstr("# note: scales of gradients are fixed here, as those of "
                                      "weights and activations are: podsim has one scaling\n"));
    EXPECT_THAT(imported({weights, acts, grads}, "fp8_full").out, Not(HasSubstr("one scaling")));
    const Outcome gathered = imported({weights}, "fp8_full");
    EXPECT_EQ(training(gathered), fp8 + ", quantized_gather: true");
    EXPECT_THAT(gathered.out,
                HasSubstr("# note: weights of fixed scales are quantised before they are "
                          "gathered, but read once more for their magnitudes, as activations are: "
                          "podsim has one scaling, here dynamic\n"));
    const Outcome found = imported({acts}, "fp8_full");
    EXPECT_EQ(training(found), fp8);
    EXPECT_EQ(found.err, "warning: " + acts +
                             " is not expressed: podsim has one scaling, and others are dynamic: "
                             "all are\n");
    const Outcome other = imported({weights, acts}, "fp8");
    EXPECT_EQ(training(other), fp8);
    EXPECT_THAT(other.out, HasSubstr("#   weight_quantization_calibration_method = fixed,-224,224: "
                                     "read with quantization=fp8_full alone\n"));
}

// A chip has the shard of its data rank of the optimizer's state: train_utils,
// maybe_shard_optimizer_over_data.
TEST_F(MaxTextStep, ShardsTheOptimizerOverData) {
    const std::string zero = "shard_optimizer_over_data=true";
    EXPECT_THAT(line({"model_name=llama3.1-8b", "ici_data_parallelism=16", zero}, "training"),
                HasSubstr("zero: 1"));
    EXPECT_THAT(line({"model_name=llama3.1-8b", zero}, "training"), Not(HasSubstr("zero")));
}

// Without a custom gradient the sort has that of jnp.take, a scatter-add (moe.py); dense experts
// are not sorted.
TEST_F(MaxTextStep, SortsRowsAsItsFileSays) {
    const auto training = [&](const std::vector<std::string>& more) {
        std::vector<std::string> keys{"model_name=mixtral-8x7b"};
        keys.insert(keys.end(), more.begin(), more.end());
        return line(keys, "training");
    };
    EXPECT_THAT(training({"use_custom_sort_vjp=true"}), Not(HasSubstr("moe")));
    EXPECT_THAT(training({"use_custom_sort_vjp=false"}), HasSubstr("moe: {sort_vjp: scatter-add}"));
    EXPECT_THAT(
        training({"use_custom_sort_vjp=false", "sparse_matmul=false", "capacity_factor=1.25"}),
        HasSubstr("capacity_factor: 1.25, moe: {matmul: dense}"));
    const std::string older = path("older.yml");
    write("base_output_directory: x\nmodel_name: mixtral-8x7b\nlogits_dot_in_fp32: false\n",
          "older.yml");
    EXPECT_THAT(podsim({"import", "maxtext", older, "compile_topology=v6e-256"}).out,
                HasSubstr("the file is older than use_custom_sort_vjp, when gradients of sorted "
                          "rows were added into zeros"));
}

// For each grouped matmul rows, inner dimension and columns, by the names of MaxText's keys
// (moe.py, get_wi_gmm_params, get_wo_gmm_params). Before commit 6ce6ef6 they have one order. The
// file here is older: it has no weight_sparsity_m.
TEST_F(MaxTextStep, HasTheTilesOfEachGroupedMatmul) {
    const std::vector<std::string> tiles{"model_name=mixtral-8x7b",  "wi_tile_fwd_mlp_dim=7",
                                         "wi_tile_dlhs_embed_dim=5", "wi_tile_drhs_batch_seq=1",
                                         "wo_tile_fwd_embed_dim=4",  "wo_tile_dlhs_mlp_dim=3",
                                         "wo_tile_drhs_embed_dim=6"};
    std::vector<std::string> sorted = tiles;
    sorted.emplace_back("use_custom_sort_vjp=true");
    EXPECT_THAT(line(sorted, "training"),
                HasSubstr("moe: {tiles: {gate_up_forward: [512, 1024, 7], gate_up_dlhs: [512, 5, "
                          "1024], gate_up_drhs: [1, 1024, 1024], down_forward: [512, 4, 1024], "
                          "down_dlhs: [512, 1024, 3], down_drhs: [512, 6, 1024]}}"));
    const std::string later = path("later.yml");
    std::string keys = "use_custom_sort_vjp: true\nlogits_dot_in_fp32: false\nweight_sparsity_m:\n";
    for (const std::string& tile : tiles) {
        keys += tile.substr(0, tile.find('=')) + ": " + tile.substr(tile.find('=') + 1) + "\n";
    }
    write(keys, "later.yml");
    EXPECT_THAT(podsim({"import", "maxtext", later, "compile_topology=v6e-256"}).out,
                HasSubstr("moe: {tiles: {gate_up_forward: [512, 1024, 7], gate_up_dlhs: [512, "
                          "1024, 5], gate_up_drhs: [1, 1024, 1024], down_forward: [512, 1024, 4], "
                          "down_dlhs: [512, 1024, 3], down_drhs: [512, 1024, 6]}}"));
}

}  // namespace
}  // namespace podsim::scenarios
