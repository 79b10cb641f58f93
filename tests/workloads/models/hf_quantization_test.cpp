// Stored weights of Hugging Face files: bits, scales and zero points by hand, and modules that stay
// unquantised. The tests cover every method that transformers, vLLM and compressed-tensors name;
// podsim names those that it cannot describe.
#include "workloads/models/hf_quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/workloads/models/hf_fixture.h"
#include "workloads/models/hf_modules.h"
#include "workloads/models/weights.h"

namespace podsim::workloads {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A layer of Llama 3 8B has q and o of 4096 x 4096,
// k and v of 4096 x 1024, and three of 4096 x 14336.
constexpr double kLayerMatrices = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336;
constexpr double kLayerNorms = 2 * 4096;
constexpr double kLayerColumns = 4096 + 1024 + 1024 + 4096 + 2 * 14336 + 4096;
constexpr double kLayerRows = 4 * 4096 + 2 * 4096 + 14336;
constexpr double kTableElements = 2 * 128256 * 4096 + 4096;
constexpr double kHeadElements = 128256.0 * 4096;

class HfQuantization : public HfConfigTest {
protected:
    StoredWeights stored(const std::string& config) {
        const std::string text = with("rope_theta", "500000.0");
        return read(text.substr(0, text.size() - 1) + ",\n \"quantization_config\": " + config +
                    "}")
            .stored;
    }
    /// Checks the bits of a layer's matrices, which are all alike.
    void expect_bits(const std::string& config, double bits, double more_bits_of_layer = 0,
                     double bits_of_head = 16) {
        const StoredWeights read = stored(config);
        EXPECT_EQ(read.unknown, "") << config;
        const double layer = (kLayerMatrices * bits + more_bits_of_layer) / 8 + kLayerNorms * 2;
        EXPECT_NEAR(read.dense, layer / (kLayerMatrices + kLayerNorms), 1e-9)
            << config << ' ' << read.how;
        const double tables =
            (kTableElements - kHeadElements) * 2 + kHeadElements * bits_of_head / 8;
        EXPECT_NEAR(read.tables, tables / kTableElements, 1e-9) << config;
    }
    void unsaid(const std::string& config, const std::string& why) {
        const StoredWeights read = stored(config);
        EXPECT_EQ(read.unknown, why) << config;
        EXPECT_FALSE(read.known());
    }
};

// GPTQ has 16 bits of a scale and `bits` of a zero point for each group of a column, and 32 bits
// for each row (g_idx).
TEST_F(HfQuantization, IntegersInGroups) {
    expect_bits(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": false})",
                4 + 20.0 / 128, kLayerRows * 32);
    expect_bits(R"({"quant_method": "gptq", "bits": 8, "group_size": -1})", 8,
                kLayerColumns * 24 + kLayerRows * 32);
    expect_bits(R"({"quant_method": "gptq", "bits": 4, "group_size": 64, "lm_head": true})",
                4 + 20.0 / 64, kLayerRows * 32, 4 + 20.0 / 64 + 32.0 / 128256);
    expect_bits(R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true})",
                4 + 20.0 / 128);
    expect_bits(R"({"quant_method": "awq", "w_bit": 4, "q_group_size": 64})", 4 + 20.0 / 64);
    expect_bits(R"({"quant_method": "auto-round", "bits": 2, "group_size": 32})", 2 + 18.0 / 32);
    expect_bits(R"({"quant_method": "hqq", "quant_config": {"weight_quant_params":
                {"nbits": 4, "group_size": 64, "axis": 1}}, "skip_modules": ["lm_head"]})",
                4 + 32.0 / 64);
    expect_bits(R"({"quant_method": "higgs", "bits": 4, "group_size": 256})", 4 + 16.0 / 256);
    expect_bits(R"({"quant_method": "quanto", "weights": "int4"})", 4 + 32.0 / 128);
    expect_bits(R"({"quant_method": "torchao", "quant_type": "int4_weight_only",
                "quant_type_kwargs": {"group_size": 64}})",
                4 + 32.0 / 64);
    expect_bits(R"({"quant_method": "torchao", "quant_type": {"default": {"_type":
                "Int4WeightOnlyConfig", "_data": {"group_size": 128}}}})",
                4 + 32.0 / 128);
}

// NF4 has a float for each 64 elements; with double_quant 8 bits, and a float for 256 of those.
// LLM.int8 has a float a column.
TEST_F(HfQuantization, BitsAndBytes) {
    expect_bits(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})", 4.5);
    expect_bits(R"({"load_in_4bit": true, "bnb_4bit_use_double_quant": true})",
                4 + (8 + 32.0 / 256) / 64);
    expect_bits(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", 8, kLayerColumns * 32);
}

TEST_F(HfQuantization, EightBits) {
    expect_bits(R"({"quant_method": "eetq", "weights": "int8"})", 8, kLayerColumns * 16);
    expect_bits(R"({"quant_method": "quanto", "weights": "float8"})", 8, kLayerColumns * 16);
    expect_bits(R"({"quant_method": "fbgemm_fp8"})", 8, kLayerColumns * 32);
    expect_bits(R"({"quant_method": "torchao", "quant_type": "int8_weight_only"})", 8,
                kLayerColumns * 16);
    // A float belongs to each block of 128 x 128, which
    // divide all sides here; or to each of seven matrices.
    expect_bits(R"({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]})",
                8 + 32.0 / (128 * 128));
    expect_bits(R"({"quant_method": "fp8", "activation_scheme": "static"})", 8, 7 * 32);
    expect_bits(R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3",
                "qscheme": "per_tensor"}}, "exclude": ["lm_head"]})",
                8, 7 * 16);
}

// compressed-tensors also converts the unembedding, unless `ignore` has it.
TEST_F(HfQuantization, CompressedTensors) {
    const auto group = [](const std::string& weights, const std::string& rest) {
        return R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets":
               ["Linear"], "weights": {)" +
               weights + "}}}" + rest + "}";
    };
    const std::string head = R"(, "ignore": ["lm_head"])";
    const std::string packed = R"(, "format": "pack-quantized")";
    const std::string four = R"("num_bits": 4, "type": "int", "strategy": "group", "group_size": )";
    expect_bits(group(four + "128, \"symmetric\": true", head + packed), 4 + 16.0 / 128);
    expect_bits(group(four + "128, \"symmetric\": false", head + packed), 4 + 20.0 / 128);
    expect_bits(group(four + "32, \"actorder\": \"group\"", head + packed), 4.5, kLayerRows * 32);
    expect_bits(group(four + "32", packed), 4.5, 0, 4.5);
    expect_bits(group(R"("num_bits": 8, "type": "int", "strategy": "channel")", head), 8,
                kLayerColumns * 16);
    expect_bits(group(R"("num_bits": 8, "type": "float", "strategy": "tensor")", head), 8, 7 * 16);
    expect_bits(group(R"("num_bits": 8, "type": "float", "strategy": "block",
                      "block_structure": [128, 128])",
                      head),
                8 + 16.0 / (128 * 128));
    const std::string nv = R"(, "format": "nvfp4-pack-quantized")";
    expect_bits(group(R"("num_bits": 4, "type": "float", "strategy": "tensor_group",
                      "group_size": 16)",
                      head + nv),
                4.5, 7 * 32);
    expect_bits(group(R"("num_bits": 4, "type": "float", "strategy": "group", "group_size": 32)",
                      head + R"(, "format": "mxfp4-pack-quantized")"),
                4.25);
}

TEST_F(HfQuantization, FourBitFloats) {
    expect_bits(R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"],
                "kv_cache_scheme": {"num_bits": 8}})",
                4.5, 7 * 32);
    expect_bits(R"({"quant_method": "modelopt", "quantization": {"quant_algo": "FP8",
                "exclude_modules": ["lm_head"]}})",
                8, 7 * 32);
    expect_bits(R"({"quant_method": "modelopt", "quant_algo": "fp8_pb_wo", "ignore": ["lm_head"]})",
                8 + 32.0 / (128 * 128));
    expect_bits(R"({"quant_method": "fp_quant", "forward_dtype": "mxfp4"})", 4.25);
    expect_bits(R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4",
                "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}},
                "exclude": ["lm_head"]})",
                4.25);
    // transformers converts nothing to mxfp4 in a model without experts.
    expect_bits(R"({"quant_method": "mxfp4"})", 16);
}

// AQLM has a code of 16 bits for 8 weights, a scale a column, and 2^16 words of 8 halves a matrix.
// BitNet packs four ternary values in a byte.
TEST_F(HfQuantization, Codebooks) {
    expect_bits(R"({"quant_method": "aqlm", "in_group_size": 8, "out_group_size": 1,
                "num_codebooks": 1, "nbits_per_codebook": 16})",
                2, kLayerColumns * 16 + 7.0 * 65536 * 8 * 16);
    expect_bits(R"({"quant_method": "bitnet"})", 2, 7 * 16);
    expect_bits(R"({"quant_method": "bitnet", "quantization_mode": "online"})", 16);
}

// q, k, v and o stay unquantised in each of these; the mean then has their 41,943,040 at 2 bytes.
TEST_F(HfQuantization, ModulesThatStay) {
    constexpr double kAttention = 2 * 4096 * 4096 + 2 * 4096 * 1024;
    const std::string names[] = {
        R"("modules_to_not_convert": ["self_attn"])",
        R"("modules_to_not_convert": ["model.layers.*.self_attn"])",
        R"("modules_to_not_convert": ["self_attn.q_proj", "k_proj", "self_attn.v_proj", "o_proj"])",
        R"("modules_to_not_convert": ["language_model.model.layers.*.self_attn.*"])"};
    for (const std::string& kept : names) {
        expect_bits(R"({"quant_method": "awq", "bits": 4, "group_size": 128, )" + kept + "}",
                    4 + 20.0 / 128, kAttention * (16 - 4 - 20.0 / 128));
    }
    expect_bits(R"({"quant_method": "compressed-tensors", "ignore": ["re:.*self_attn.*", "lm_head"],
                "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4,
                "strategy": "group", "group_size": 32}}}, "format": "pack-quantized"})",
                4.5, kAttention * (16 - 4.5));
    // Names in regular expressions begin with model. or with the name of its wrapper.
    expect_bits(R"({"quant_method": "compressed-tensors", "ignore": ["re:self_attn.*", "lm_head"],
                "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4,
                "strategy": "group", "group_size": 32}}}, "format": "pack-quantized"})",
                4.5);
    // `gate` is a router, not gate_proj.
    expect_bits(R"({"quant_method": "awq", "bits": 4, "modules_to_not_convert": ["gate"]})",
                4 + 20.0 / 128);
    expect_bits(R"({"quant_method": "gptq", "bits": 4, "group_size": 128,
                "dynamic": {"-:.*self_attn.*": {}}})",
                4 + 20.0 / 128,
                kLayerRows * 32 + kAttention * (16 - 4 - 20.0 / 128) - 4 * 4096 * 32);
    expect_bits(
        R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "modules_in_block_to_quantize":
                [["mlp.gate_proj", "mlp.up_proj"], ["mlp.down_proj"]]})",
        4 + 20.0 / 128, kLayerRows * 32 + kAttention * (16 - 4 - 20.0 / 128) - 4 * 4096 * 32);
    expect_bits(R"({"quant_method": "auto-round", "bits": 4, "group_size": 128,
                "extra_config": {"lm_head": {"bits": 16}}})",
                4 + 20.0 / 128);
}

TEST_F(HfQuantization, IsNamedWhereItCannotBeSaid) {
    unsaid(R"({"quant_method": "vptq"})", "what 'vptq' stores is not modelled");
    unsaid(R"({"quant_method": "spqr", "bits": 3})", "what 'spqr' stores is not modelled");
    unsaid(R"({"quant_method": "my_own"})", "what 'my_own' stores is not modelled");
    unsaid(R"({"bits": 4})", "it has no quant_method");
    unsaid(R"({"quant_method": "gptq", "bits": "four"})",
           "gptq: 'bits' is no number, which is not modelled");
    unsaid(R"({"quant_method": "gptq", "bits": 40})", "gptq: 'bits' of 40, which is not modelled");
    unsaid(R"({"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*mlp.*": {"bits": 8}}})",
           "gptq: 'dynamic' with other bits for some modules, which is not modelled");
    unsaid(R"({"quant_method": "awq", "modules_to_not_convert": [3]})",
           "awq: names of modules that are no texts, which is not modelled");
    unsaid(R"({"quant_method": "compressed-tensors"})",
           "compressed-tensors: no 'config_groups', which is not modelled");
    unsaid(R"({"quant_method": "compressed-tensors", "format": "marlin-24", "config_groups": {}})",
           "compressed-tensors: the format 'marlin-24', which is not modelled");
    unsaid(R"({"quant_method": "compressed-tensors", "ignore": ["re:("], "config_groups": {}})",
           "compressed-tensors: the pattern 're:(', which is not modelled");
    unsaid(R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})",
           "modelopt: 'quant_algo' of MIXED_PRECISION, which is not modelled");
    unsaid(R"({"quant_method": "torchao", "quant_type": "uint3_weight_only"})",
           "torchao: 'quant_type' of uint3_weight_only, which is not modelled");
    unsaid(R"({"quant_method": "fp8", "weight_block_size": [0, 128]})",
           "fp8: 'weight_block_size' that is no pair of numbers, which is not modelled");
    unsaid("[]", "it has no quant_method");
}

TEST_F(HfQuantization, ThePlaceIsTheKeys) {
    EXPECT_EQ(stored(R"({"quant_method": "vptq"})").place, path_ + ":2:2");
    EXPECT_EQ(read(with("head_dim", "null")).stored, StoredWeights{});
}

// The matrices add up to the parameters of the layers, for any architecture.
TEST(HfModules, AddUpToTheLayersMatrices) {
    for (const ModelSpec& model : model_catalogue()) {
        double dense = 0;
        double experts = 0;
        double expected_dense = 0;
        double expected_experts = 0;
        for (const HfModule& module : hf_modules(model)) {
            const double size = module.count * module.inputs * module.outputs;
            dense += module.part == HfModule::Part::dense ? size : 0;
            experts += module.part == HfModule::Part::experts ? size : 0;
        }
        for (const auto& [kind, number] : layer_kinds(model)) {
            const LayerParameters count = count_layer(model, kind);
            const std::int64_t router = kind.experts
                                            ? model.experts.count * model.d_model +
                                                  (model.experts.shared_gate ? model.d_model : 0)
                                            : 0;
            expected_dense += static_cast<double>(number * (count.attention + count.mlp - router));
            expected_experts += static_cast<double>(number * count.experts);
        }
        EXPECT_EQ(dense, expected_dense) << model.name;
        EXPECT_EQ(experts, expected_experts) << model.name;
    }
}

/// Published models: hyperparameters and an abridged quantization_config.
class HfQuantised : public HfConfigTest {
protected:
    double bytes(const std::string& text) {
        const ModelSpec model = read(text);
        EXPECT_EQ(model.stored.unknown, "");
        const ParameterCount count = count_parameters(model);
        double experts = 0;
        for (const auto& [kind, number] : layer_kinds(model)) {
            experts += static_cast<double>(number) * layer_weights(model, kind).total().experts;
        }
        const auto layers = static_cast<double>(count.layers);
        return (layers - experts) * model.stored.dense + experts * model.stored.experts +
               static_cast<double>(count.total - count.layers) * model.stored.tables;
    }
};

constexpr const char* kDeepSeekKeys = R"("moe_intermediate_size": 2048, "n_shared_experts": 1,
    "num_experts_per_tok": 8, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "num_hidden_layers": 61, "hidden_size": 7168,
    "intermediate_size": 18432, "topk_method": "noaux_tc", )";

// In Kimi K2 Thinking only the routed experts have 4 bits, with a bf16 scale for 32 of them: 60 x
// 384 x 3 x 7168 x 2048 x 4.5 bits, and 11.7 G others of 2 bytes: 594.2 GB, as its repository has;
// 2.05 TB without quantisation.
TEST_F(HfQuantised, KimiK2Thinking) {
    const std::string text = std::string("{\"model_type\": \"kimi_k2\", ") + kDeepSeekKeys +
                             R"("n_routed_experts": 384, "first_k_dense_replace": 1,
        "num_attention_heads": 64, "num_key_value_heads": 64, "vocab_size": 163840,
        "quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized",
            "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
                       "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"],
            "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": null,
                "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32,
                            "symmetric": true}}}}})";
    constexpr double kExperts = 60.0 * 384 * 3 * 7168 * 2048;
    constexpr double kAll = 1026408232448;
    EXPECT_NEAR(bytes(text), kExperts * 4.5 / 8 + (kAll - kExperts) * 2, 1e3);
    EXPECT_NEAR(bytes(text) / 1e9, 594.2, 0.05);
}

// DeepSeek-V3 has all matrices of layers except routers in 8
// bits, with a float for each 128 x 128; 671 G parameters.
TEST_F(HfQuantised, DeepSeekV3) {
    const std::string text = std::string("{\"model_type\": \"deepseek_v3\", ") + kDeepSeekKeys +
                             R"("n_routed_experts": 256, "first_k_dense_replace": 3,
        "num_attention_heads": 128, "num_key_value_heads": 128, "vocab_size": 129280,
        "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
                                "weight_block_size": [128, 128]}})";
    const ModelSpec model = read(text);
    EXPECT_NEAR(model.stored.experts, 1 + 4.0 / (128 * 128), 1e-12);
    EXPECT_EQ(model.stored.tables, 2);
    // 61 attentions, 3 dense MLPs and 58 shared experts are 15,156,838,400 elements and 926,808
    // blocks (576 columns of kv_a_proj_with_mqa take five blocks in place of 4.5); 58 routers and
    // the norms are 107,444,736 elements of 2 bytes.
    EXPECT_NEAR(model.stored.dense,
                (15156838400.0 + 4 * 926808.0 + 2 * 107444736.0) / (15156838400.0 + 107444736.0),
                1e-12);
    EXPECT_NEAR(bytes(text) / 1e9, 673.15, 0.005);
}

// gpt-oss-120b has experts of 4.25 bits; their biases and the rest are bf16. 36 x 128 x (2880 x
// 5760 + 2880 x 2880) weights.
TEST_F(HfQuantised, GptOss120b) {
    const std::string text = R"({"model_type": "gpt_oss", "num_hidden_layers": 36,
        "num_local_experts": 128, "num_experts_per_tok": 4, "hidden_size": 2880,
        "intermediate_size": 2880, "num_attention_heads": 64, "num_key_value_heads": 8,
        "head_dim": 64, "vocab_size": 201088, "sliding_window": 128, "tie_word_embeddings": false,
        "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert":
            ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
             "lm_head"]}})";
    constexpr double kExperts = 36.0 * 128 * 3 * 2880 * 2880;
    constexpr double kBiases = 36.0 * 128 * (2 * 2880 + 2880);
    const ModelSpec model = read(text);
    EXPECT_NEAR(model.stored.experts, (kExperts * 4.25 / 8 + kBiases * 2) / (kExperts + kBiases),
                1e-9);
    EXPECT_EQ(model.stored.dense, 2);
    EXPECT_NEAR(bytes(text) / 1e9, 65.2, 0.1);
}

// In a multimodal model the key is outside of the text model.
TEST_F(HfQuantised, OfAMultimodalModel) {
    const std::string inner = R"("text_config": {"model_type": "llama4_text", "hidden_size": 5120,
        "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_hidden_layers": 48,
        "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 202048,
        "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2})";
    const ModelSpec model = read("{\"model_type\": \"llama4\", " + inner +
                                 R"(,
 "quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized",
     "ignore": ["re:.*lm_head", "re:.*self_attn", "re:.*router", "re:.*vision_model",
                "re:.*feed_forward.(gate|up|down)_proj", "re:.*shared_expert"],
     "config_groups": {"group_0": {"targets": ["Linear"],
         "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}}})");
    EXPECT_EQ(model.stored.place, path_ + ":5:2");
    EXPECT_EQ(model.stored.dense, 2);
    // Gate and up are 5120 x 8192 and down is 8192 x 5120, with a bf16 scale a column.
    EXPECT_NEAR(model.stored.experts, 1 + 2.0 * (2 * 8192 + 5120) / (3 * 5120.0 * 8192), 1e-12);
    EXPECT_THAT(model.stored.how, StartsWith("compressed-tensors, 8 bits by channel"));
}

}  // namespace
}  // namespace podsim::workloads
