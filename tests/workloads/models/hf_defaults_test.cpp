// Values for keys that a file lacks, has twice, or has under another name.
#include <fmt/format.h>
#include <string>
#include <tuple>
#include <vector>

#include "tests/workloads/models/hf_fixture.h"
#include "workloads/models/model.h"

namespace podsim::workloads {
namespace {

using ::testing::EndsWith;

using HfDefaults = HfConfigTest;

// Defaults come from transformers' configuration classes
// (configuration_mistral.py, configuration_gpt_oss.py, ...). Published files
// write these keys, but the text models of multimodal ones and files by hand
// may not. A null is not a default, but means as many as there are heads.
TEST_F(HfDefaults, ClassesHaveDefaultsOfTheirOwn) {
    const std::string mistral =
        "{\"model_type\": \"mistral\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
        "\"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"vocab_size\": 32000";
    read(mistral + "}");
    const HfReading reading = read_hf_config_fully(path_);
    EXPECT_EQ(count_parameters(reading.model).total, 7'241'732'096);  // mistralai/Mistral-7B-v0.1
    EXPECT_EQ(reading.model.window, 4096);
    EXPECT_THAT(reading.notes, ::testing::ElementsAre(
                                   "the file lacks 'num_key_value_heads': 8, as its class has it",
                                   "the file lacks 'sliding_window': 4096, as its class has it"));
    EXPECT_EQ(read(mistral + ", \"num_key_value_heads\": null}").kv_heads, 32);
    EXPECT_EQ(read(mistral + ", \"sliding_window\": null}").window, 0);
    EXPECT_EQ(
        refusal("{\"model_type\": \"mixtral\", \"hidden_size\": 48, \"intermediate_size\": 8, "
                "\"num_hidden_layers\": 1, \"num_attention_heads\": 12, \"vocab_size\": 8}"),
        ":1:1: 'num_key_value_heads' = 8, which its class takes, does not divide "
        "'num_attention_heads' = 12; every key/value head serves the same number of query "
        "heads");
}

// configuration_qwen3.py has 128, the four of gemma 256 (and 512 for gemma4's global layers), for
// any width, also under other names. That of qwen3_moe has none: its layers take hidden_size /
// num_attention_heads (modeling_qwen3_moe.py, Qwen3MoeAttention), as llama's do.
TEST_F(HfDefaults, WidthsOfHeadsThatClassesHave) {
    const auto config = [](const std::string& type, const std::string& others) {
        return "{\"model_type\": \"" + type +
               "\", \"hidden_size\": 64, \"intermediate_size\": 32, \"num_hidden_layers\": 6, "
               "\"num_attention_heads\": 4, \"num_key_value_heads\": 4, \"vocab_size\": 64" +
               others + "}";
    };
    const auto note = [](const char* key, std::int64_t value) {
        return fmt::format("the file lacks '{}': {}, as its class has it", key, value);
    };
    using ::testing::Contains;
    using ::testing::Not;
    const std::string gemma4 = ", \"hidden_size_per_layer_input\": 0";
    const std::string experts =
        ", \"num_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 16";
    for (const auto& [type, others, width] :
         std::vector<std::tuple<std::string, std::string, std::int64_t>>{
             {"qwen3", "", 128},
             {"qwen3_vl_text", "", 128},
             {"gemma", "", 256},
             {"gemma2", "", 256},
             {"gemma3_text", "", 256},
             {"gemma4_text", gemma4, 256}}) {
        SCOPED_TRACE(type);
        read(config(type, others));
        const HfReading reading = read_hf_config_fully(path_);
        EXPECT_EQ(reading.model.head_dim, width);
        EXPECT_THAT(reading.notes, Contains(note("head_dim", width)));
        read(config(type, others + ", \"head_dim\": 32"));
        const HfReading said = read_hf_config_fully(path_);
        EXPECT_EQ(said.model.head_dim, 32);
        EXPECT_THAT(said.notes, Not(Contains(note("head_dim", width))));
    }
    read(config("gemma4_text", gemma4));
    EXPECT_THAT(read_hf_config_fully(path_).notes, Contains(note("global_head_dim", 512)));
    for (const char* const type : {"qwen3_moe", "llama"}) {
        SCOPED_TRACE(type);
        read(config(type, std::string(type) == "llama" ? "" : experts));
        const HfReading reading = read_hf_config_fully(path_);
        EXPECT_EQ(reading.model.head_dim, 16);
        EXPECT_THAT(reading.notes, Not(Contains(::testing::HasSubstr("head_dim"))));
    }
}

// ibm-granite/granite-4.0-1b has 40 layers of attention with 16 heads of 128 and 4 of keys, and an
// MLP of 4096; 1.6 billion.
TEST_F(HfDefaults, GraniteHybridsOfAttentionAlone) {
    const auto config = [](const std::string& others) {
        return "{\"model_type\": \"granitemoehybrid\", \"hidden_size\": 2048, "
               "\"intermediate_size\": 4096, \"shared_intermediate_size\": 4096, "
               "\"num_hidden_layers\": 40, \"num_attention_heads\": 16, "
               "\"num_key_value_heads\": 4, \"vocab_size\": 100352, "
               "\"tie_word_embeddings\": true, \"mamba_n_heads\": 128,\n" +
               others + "}";
    };
    std::string attention = "\"layer_types\": [\"attention\"";
    for (int layer = 1; layer < 40; ++layer) {
        attention += ", \"attention\"";
    }
    attention += "]";
    read(config(attention + ", \"num_local_experts\": 0"));
    const HfReading dense = read_hf_config_fully(path_);
    EXPECT_EQ(count_parameters(dense.model).total,
              100352 * 2048 + 2048 +
                  40LL * (2 * 2048 * 2048 + 2 * 2048 * 512 + 3 * 2048 * 4096 + 2 * 2048));
    EXPECT_TRUE(dense.unknown.empty());
    const ModelSpec routed =
        read(config(attention + ", \"num_local_experts\": 64, \"num_experts_per_tok\": 6"));
    EXPECT_EQ(routed.experts.count, 64);
    EXPECT_EQ(routed.experts.shared_d_ff, 4096);
    const std::string why =
        ": state-space layers ('layer_types': mamba) are not modelled; podsim knows layers of "
        "attention alone";
    EXPECT_EQ(refusal(config("\"layer_types\": [\"mamba\", \"attention\"]")), ":2:1" + why);
    EXPECT_EQ(refusal(config("\"num_local_experts\": 0")), ":1:1" + why);
}

// The defaults are in configuration_deepseek_v3.py, configuration_ernie4_5_moe.py,
// configuration_glm4.py.
TEST_F(HfDefaults, ClassesHaveLayersAndExpertsOfTheirOwn) {
    const std::string sizes =
        ", \"hidden_size\": 64, \"intermediate_size\": 32, \"num_hidden_layers\": 8, "
        "\"num_attention_heads\": 4, \"vocab_size\": 64";
    const ModelSpec deepseek = read(
        "{\"model_type\": \"deepseek_v3\"" + sizes +
        ", \"n_routed_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 16, "
        "\"kv_lora_rank\": 16, \"q_lora_rank\": 16, \"qk_nope_head_dim\": 8, "
        "\"qk_rope_head_dim\": 8, \"v_head_dim\": 8}");
    EXPECT_EQ(deepseek.experts.first_dense, 3);
    EXPECT_EQ(deepseek.experts.shared, 1);
    const std::string ernie = "{\"model_type\": \"ernie4_5_moe\"" + sizes +
                              ", \"moe_num_experts\": 8, \"moe_k\": 2, "
                              "\"moe_intermediate_size\": 16";
    const ModelSpec read_ernie = read(ernie + "}");
    EXPECT_EQ(read_ernie.experts.first_dense, 1);
    EXPECT_EQ(read_ernie.experts.shared, 2);
    EXPECT_EQ(read(ernie + ", \"moe_layer_end_index\": 7}").experts.first_dense, 1);
    EXPECT_EQ(refusal(ernie + ", \"moe_layer_end_index\": 5}"),
              ":1:207: dense layers behind those with experts; podsim knows them before those with "
              "experts alone");
    const ModelSpec glm = read("{\"model_type\": \"glm4\"" + sizes + "}");
    EXPECT_EQ(glm.kv_heads, 2);
    EXPECT_EQ(glm.head_dim, 128);
    EXPECT_TRUE(glm.qkv_bias);
}

// A llama with another family's name for its key/value heads would get as many as heads.
TEST_F(HfDefaults, OtherNamesOfKeyValueHeadsAreRefused) {
    const std::string llama = with("num_key_value_heads", "");
    for (const char* const other : {"num_kv_heads", "n_kv_heads", "num_query_groups"}) {
        EXPECT_EQ(refusal(llama.substr(0, llama.rfind('}')) + ",\n\"" + other + "\": 8}"),
                  ":2:1: '" + std::string(other) +
                      "' is not read in this family; its name here is num_key_value_heads");
    }
    EXPECT_THAT(refusal(with("num_hidden_layers", "null")),
                EndsWith(": 'num_hidden_layers' is null; give a whole number from 1 to 4096"));
}

TEST_F(HfDefaults, OfRepeatedKeysTheLastCounts) {
    const std::string once = with("hidden_size", "4096");
    const std::string twice =
        once.substr(0, once.rfind('}')) + ",\n\"hidden_size\": 8192, \"hidden_size\": 8192}";
    read(twice);
    const HfReading reading = read_hf_config_fully(path_);
    EXPECT_EQ(reading.model.d_model, 8192);
    EXPECT_THAT(reading.notes, ::testing::ElementsAre("'hidden_size' stands there more than once: "
                                                      "the last, in line 2, counts"));
}

}  // namespace
}  // namespace podsim::workloads
