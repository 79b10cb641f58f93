#include "workloads/models/hf_config.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>
#include <thread>

#include "tests/checkout.h"
#include "tests/workloads/models/hf_fixture.h"
#include "tests/workloads/step_program_support.h"
#include "workloads/models/model.h"

namespace podsim::workloads {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST_F(HfConfigTest, ReadsLlama3) {
    const ModelSpec model = read(with("", ""));
    const ModelSpec& expected = find_model("llama-3-8b");
    EXPECT_EQ(model.layers, 32);
    EXPECT_EQ(model.head_dim, 128);
    EXPECT_TRUE(model.gated_mlp);
    EXPECT_EQ(count_parameters(model).total, count_parameters(expected).total);
}

TEST_F(HfConfigTest, Defaults) {
    EXPECT_EQ(read(with("num_key_value_heads", "")).kv_heads, 32);
    EXPECT_EQ(read(with("num_key_value_heads", "null")).kv_heads, 32);
    EXPECT_EQ(read(with("head_dim", "80")).head_dim, 80);
    EXPECT_FALSE(read(with("tie_word_embeddings", "")).tied_embeddings);
    EXPECT_TRUE(read(with("tie_word_embeddings", "true")).tied_embeddings);
    EXPECT_EQ(read(with("model_type", "\"mistral\"")).d_model, 4096);
}

// JSON's reader stops at a NUL and would not see the text behind it.
TEST_F(HfConfigTest, ANulIsNoText) {
    const std::string text = with("", "");
    EXPECT_EQ(
        refusal(text + '\0' + "{{"),
        fmt::format(":1:{}: a NUL byte, which no JSON text has; name a model's config.json, as "
                    "a text in UTF-8",
                    text.size() + 1));
}

// The settings of a sweep, and `podsim show`, read the config again.
TEST_F(HfConfigTest, APipeIsReadOnce) {
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path_, std::ios::binary) << with("", ""); });
    const ModelSpec first = read_hf_config(path_);
    writer.join();
    EXPECT_EQ(first.layers, 32);
    EXPECT_EQ(read_hf_config(path_).layers, 32);
    EXPECT_EQ(read_hf_config(std::filesystem::proximate(path_).string()).layers, 32);
}

// The files hold the published hyperparameters; the
// counts are those of the tensors on huggingface.co.
TEST(HfConfigFile, EveryFamilyHasItsPublishedCount) {
    const std::pair<const char*, std::int64_t> published[] = {
        {"llama-3-8b", 8'030'261'248},         // meta-llama/Meta-Llama-3-8B
        {"mistral-7b", 7'241'732'096},         // mistralai/Mistral-7B-v0.1
        {"mixtral-8x7b", 46'702'792'704},      // mistralai/Mixtral-8x7B-v0.1
        {"gemma-2b", 2'506'172'416},           // google/gemma-2b
        {"gemma-2-9b", 9'241'705'984},         // google/gemma-2-9b
        {"gemma-3-1b", 999'885'952},           // google/gemma-3-1b-pt
        {"qwen2-7b", 7'615'616'512},           // Qwen/Qwen2-7B
        {"qwen3-8b", 8'190'735'360},           // Qwen/Qwen3-8B
        {"qwen3-30b-a3b", 30'532'122'624},     // Qwen/Qwen3-30B-A3B
        {"deepseek-v2-lite", 15'706'484'224},  // deepseek-ai/DeepSeek-V2-Lite
        {"deepseek-v3", 671'026'419'200},      // deepseek-ai/DeepSeek-V3, main model
        {"gpt2", 124'439'808},                 // openai-community/gpt2
        {"gpt-neox-20b", 20'554'567'680},      // EleutherAI/gpt-neox-20b
    };
    for (const auto& [name, parameters] : published) {
        const ModelSpec model =
            read_hf_config(source_folder() + "/tests/workloads/configs/" + name + ".json");
        EXPECT_EQ(count_parameters(model).total, parameters) << name;
    }
}

TEST(HfConfigFile, AFamilyIsTheModelOfTheCatalogue) {
    for (const char* name :
         {"llama-3-8b", "mistral-7b", "mixtral-8x7b", "gemma-3-1b", "deepseek-v3"}) {
        const ModelSpec model =
            read_hf_config(source_folder() + "/tests/workloads/configs/" + name + ".json");
        const ModelSpec& known = find_model(name);
        EXPECT_EQ(layer_kinds(model), layer_kinds(known)) << name;
        EXPECT_EQ(model.latent, known.latent) << name;
        EXPECT_EQ(model.experts, known.experts) << name;
        EXPECT_EQ(model.window, known.window) << name;
        EXPECT_EQ(count_parameters(model).active, count_parameters(known).active) << name;
    }
}

// GLM-4.7-Flash has a list in transformers 5, a number
// before, and one dense layer if neither is given.
TEST_F(HfConfigTest, DenseLayersBeforeThoseWithExperts) {
    std::ifstream file(source_folder() + "/tests/workloads/configs/glm-4.7-flash.json");
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    const std::size_t begin = whole.find("\"mlp_layer_types\"");
    const std::size_t end = whole.find(']', begin) + 1;
    const auto instead = [&](const std::string& text) {
        return whole.substr(0, begin) + text + whole.substr(end);
    };
    const auto types = [](int dense, int sparse) {
        std::string text = "\"mlp_layer_types\": [\"dense\"";
        for (int i = 1; i < dense + sparse; ++i) {
            text += i < dense ? ", \"dense\"" : ", \"sparse\"";
        }
        return text;
    };
    EXPECT_EQ(read(whole).experts.first_dense, 1);
    EXPECT_EQ(read(instead(types(3, 44) + "]")).experts.first_dense, 3);
    EXPECT_EQ(read(instead("\"first_k_dense_replace\": 2")).experts.first_dense, 2);
    EXPECT_EQ(read(instead("\"use_cache\": true")).experts.first_dense, 1);
    EXPECT_TRUE(read(whole).experts.router_bias);
    EXPECT_EQ(read(whole).head_dim, 256);
    for (const std::string& other : {types(1, 45) + "]", types(1, 45) + ", \"dense\"]"}) {
        EXPECT_THAT(refusal(instead(other)),
                    EndsWith("'mlp_layer_types' is not dense layers and then sparse ones, 47 in "
                             "all; dense layers among those with experts are not modelled"));
    }
}

TEST_F(HfConfigTest, ArchitecturesThatAreNotModelled) {
    const std::string remedy = "`podsim import hf --help` lists the 61 families that podsim reads";
    EXPECT_EQ(refusal(with("model_type", "\"mamba\"")),
              ":1:2: model_type 'mamba' is not modelled: it has state-space layers; " + remedy);
    EXPECT_EQ(refusal(with("model_type", "\"unheard_of\"")),
              ":1:2: model_type 'unheard_of' is not modelled; " + remedy);
    EXPECT_EQ(refusal(with("model_type", "\"lama\"")),
              ":1:2: model_type 'lama' is not modelled; did you mean 'llama'? " + remedy);
    // These are other architectures, not misspellings of supported ones.
    EXPECT_EQ(refusal(with("model_type", "\"minimax_m3\"")),
              ":1:2: model_type 'minimax_m3' is not modelled; " + remedy);
    EXPECT_EQ(refusal(with("model_type", "\"phi_flash\"")),
              ":1:2: model_type 'phi_flash' is not modelled; " + remedy);
    EXPECT_EQ(refusal(with("model_type", "\"qwen3_next\"")),
              ":1:2: model_type 'qwen3_next' is not modelled: it has linear attention; " + remedy);
    EXPECT_EQ(refusal(with("model_type", "")), ":1:1: the key 'model_type' is missing; " + remedy);
    EXPECT_EQ(refusal(with("model_type", "7")), ":1:2: 'model_type' is not a text; " + remedy);
}

/// Files of transformers 5 name the experts differently, and
/// the text model's default counts beside the wrapper's value.
TEST_F(HfConfigTest, FilesOfTransformers5AreReadAlike) {
    std::ifstream file(source_folder() + "/tests/workloads/configs/qwen3-30b-a3b.json");
    std::string text(std::istreambuf_iterator<char>(file), {});
    const ModelSpec before = read(text);
    const std::string experts = "\"num_experts\"";
    text.replace(text.find(experts), experts.size(), "\"num_local_experts\"");
    EXPECT_EQ(read(text), before);
    const std::string untied = "\"tie_word_embeddings\": false";
    ASSERT_NE(text.find(untied), std::string::npos);
    text.replace(text.find(untied), untied.size(), "\"tie_word_embeddings\": true");
    EXPECT_TRUE(read(text).tied_embeddings);
    EXPECT_EQ(read("{" + untied + ", \"text_config\": " + text + "}"), before);
}

TEST_F(HfConfigTest, StructuresThatAreNotModelled) {
    const std::string moe =
        "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 8, \"intermediate_size\": 8, "
        "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"vocab_size\": 8,\n";
    EXPECT_EQ(refusal(moe + "\"mlp_only_layers\": [1]}"),
              ":2:1: dense layers by number ('mlp_only_layers') are not modelled; podsim knows "
              "first_dense layers at the start and experts in every n-th layer");
    EXPECT_EQ(
        refusal(moe + "\"use_sliding_window\": true}"),
        ":2:1: a window in some layers only ('use_sliding_window': true) is not modelled; set it "
        "to false if all layers attend to the whole sequence");
    EXPECT_EQ(refusal(moe + "\"num_experts\": 4, \"num_experts_per_tok\": 5}"),
              ":2:19: 'num_experts_per_tok' = 5 is out of range; allowed are 1 to 4");
    EXPECT_EQ(refusal(moe + "\"num_experts\": 4}"),
              ":1:1: the key 'num_experts_per_tok' is missing; give a whole number from 1 to 4");
    EXPECT_EQ(
        refusal("{\"model_type\": \"gemma3_text\", \"hidden_size\": 8, \"intermediate_size\": 8, "
                "\"num_hidden_layers\": 1, \"num_attention_heads\": 4, \"vocab_size\": 8,\n"
                "\"layer_types\": [\"full_attention\"]}"),
        ":2:1: 'layer_types' is not the pattern in which every 6th of 1 layers has full "
        "attention; other patterns are not modelled");
    std::string llama = with("", "");
    llama.insert(llama.size() - 1, ",\n\"num_experts\": 8");
    EXPECT_EQ(
        refusal(llama),
        ":2:1: experts ('num_experts') in a model of the family llama; families with experts are "
        "mixtral, qwen2_moe, qwen3_moe, deepseek, deepseek_v2, deepseek_v3, kimi_k2, glm4_moe, "
        "glm4_moe_lite, gpt_oss, "
        "llama4_text, olmoe, granitemoe, granitemoeshared, granitemoehybrid, phimoe, "
        "minimax_m2, ernie4_5_moe, dots1, hunyuan_v1_moe, hy_v3");
    const std::string hunyuan =
        "{\"model_type\": \"hunyuan_v1_moe\", \"hidden_size\": 8, \"intermediate_size\": 8, "
        "\"num_hidden_layers\": 2, \"num_attention_heads\": 1, \"vocab_size\": 8, "
        "\"num_experts\": 4,\n\"moe_topk\": ";
    EXPECT_EQ(refusal(hunyuan + "[2, 3]}"),
              ":2:1: 'moe_topk' is not the same whole number from 1 to 4 in every layer; layers of "
              "different sizes are not modelled");
    EXPECT_EQ(refusal(hunyuan + "[]}"),
              ":2:1: 'moe_topk' is not the same whole number from 1 to 4 in every layer; layers of "
              "different sizes are not modelled");
}

TEST_F(HfConfigTest, BiasesAndWindowsAreRead) {
    const ModelSpec model = read(with("attention_bias", "true"));
    EXPECT_TRUE(model.qkv_bias && model.out_bias);
    EXPECT_EQ(count_layer(model, {}).vectors, 2 * 4096 + (32 + 16) * 128 + 4096);
    EXPECT_EQ(read(with("sliding_window", "4096")).window, 0);  // ignored for llama
}

TEST_F(HfConfigTest, KeysAreNamed) {
    EXPECT_EQ(refusal(with("hidden_size", "")),
              ":1:1: the key 'hidden_size' is missing; give a whole number from 1 to 1048576");
    EXPECT_EQ(refusal(with("hidden_size", "\"4096\"")),
              ":1:25: 'hidden_size' is \"4096\", not a whole number; allowed are 1 to 1048576");
    EXPECT_EQ(refusal(with("hidden_size", "4096.5")),
              ":1:25: 'hidden_size' is 4096.5, not a whole number; allowed are 1 to 1048576");
    EXPECT_EQ(refusal(with("hidden_size", "[1]")),
              ":1:25: 'hidden_size' is [1], not a whole number; allowed are 1 to 1048576");
    EXPECT_EQ(refusal(with("vocab_size", "-1")),
              ":1:152: 'vocab_size' = -1 is out of range; allowed are 1 to 16777216");
    EXPECT_EQ(
        refusal(with("vocab_size", "18446744073709551615")),
        ":1:152: 'vocab_size' = 18446744073709551615 is out of range; allowed are 1 to 16777216");
    EXPECT_EQ(refusal(with("num_hidden_layers", "0")),
              ":1:74: 'num_hidden_layers' = 0 is out of range; allowed are 1 to 4096");
    EXPECT_EQ(refusal(with("tie_word_embeddings", "1")),
              ":1:174: 'tie_word_embeddings' is 1, not true or false");
    EXPECT_EQ(refusal(with("num_key_value_heads", "5")),
              ":1:126: 'num_key_value_heads' = 5 does not divide 'num_attention_heads' = 32; every "
              "key/value head serves the same number of query heads");
    EXPECT_EQ(
        refusal(with("hidden_size", "4097")),
        ":1:25: 'hidden_size' = 4097 is not a multiple of 'num_attention_heads' = 32; give the key "
        "'head_dim'");
}

TEST_F(HfConfigTest, MissingKeysAskAboutTheNearest) {
    const std::string remedy = "give a whole number from 1 to 1048576";
    std::string text = with("", "");
    text.replace(text.find("hidden_size"), 11, "hiden_size");
    EXPECT_EQ(refusal("\n\n" + text),
              ":1:1: the key 'hidden_size' is missing; is it 'hiden_size' in line 3? " + remedy);
    // A key that is read is not a misspelling of another,
    // and a key inside an object is not one of the config's.
    EXPECT_EQ(refusal("{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"a\": "
                      "{\"hiden_size\": 1}}"),
              ":1:1: the key 'hidden_size' is missing; " + remedy);
}

TEST_F(HfConfigTest, MisspeltOptionalKeys) {
    std::string text = with("num_key_value_heads", "");
    text.insert(text.size() - 1, ",\n\"num_key_value_head\": 8");
    EXPECT_EQ(
        refusal(text),
        ":2:1: unknown key 'num_key_value_head'; did you mean 'num_key_value_heads'? write it "
        "so, or leave it out");
    // A key is not suggested if the right one is present,
    // if it is known to change nothing, or if it is far.
    for (const char* key : {"num_key_value_head", "rope_theta", "head_dims_of_something"}) {
        std::string fine = with("", "");
        fine.insert(fine.size() - 1, std::string(",\n\"") + key + "\": 8");
        EXPECT_EQ(read(fine).kv_heads, 8) << key;
    }
}

TEST_F(HfConfigTest, EveryKeyIsReadIgnoredOrUnknown) {
    std::string text = with("", "");
    text.insert(text.size() - 1, ", \"vendor_mark\": 1, \"q_lora_rank\": null");
    std::ofstream(path_, std::ios::binary) << text;
    const HfReading reading = read_hf_config_fully(path_);
    EXPECT_EQ(reading.family, "llama");
    EXPECT_EQ(reading.read.size(), 10U);
    EXPECT_EQ(reading.read[1].name, "hidden_size");
    EXPECT_EQ(reading.read[1].text, "4096");
    ASSERT_EQ(reading.ignored.size(), 3U);
    EXPECT_EQ(reading.ignored[0].name, "sliding_window");  // ignored for llama
    EXPECT_EQ(reading.ignored[1].name, "rope_theta");
    EXPECT_EQ(reading.ignored[1].text, "of the positions, which a step's time does not depend on");
    EXPECT_EQ(reading.unknown, std::vector<std::string>{"vendor_mark"});
}

TEST_F(HfConfigTest, TextModelsOfMultimodalOnes) {
    const std::string inner = with("", "");
    const ModelSpec model = read(
        "{\"model_type\": \"llava\", \"tie_word_embeddings\": true,\n"
        "\"vision_config\": {\"hidden_size\": 7}, \"text_config\": " +
        inner + "}");
    EXPECT_EQ(model.d_model, 4096);
    EXPECT_FALSE(model.tied_embeddings);  // the text model's own flag counts
    std::string bad = inner;
    bad.replace(bad.find("4096"), 4, "true");
    EXPECT_EQ(
        refusal("{\"model_type\": \"llava\",\n\"hidden_size\": 1, \"text_config\": " + bad + "}"),
        ":2:58: 'hidden_size' is true, not a whole number; allowed are 1 to 1048576");
    EXPECT_EQ(refusal("{\"model_type\": \"mllama\", \"text_config\": {\"hidden_size\": 1}}")
                  .substr(0, 80),
              ":1:1: model_type 'mllama' is not modelled: it has layers of cross-attention to i");
}

TEST_F(HfConfigTest, KeysAreFoundInTheText) {
    const std::string rest = " 'hidden_size' is true, not a whole number; allowed are 1 to 1048576";
    const std::string before = "{\n  \"model_type\": \"llama\", \"num_hidden_layers\": 2,\n";
    EXPECT_EQ(refusal(before + "  \"hidden_size\": true}"), ":3:3:" + rest);
    // The position is not that of a value, of a key of an inner object, or behind an escaped quote.
    EXPECT_EQ(refusal(before + "\"a\": [\"hidden_size\", {\"hidden_size\": 7}], \"b\": \"\\\", "
                               "\\\"hidden_size\",\n\"hidden_size\": true}"),
              ":4:1:" + rest);
    // The last of two equal keys counts; a key may be written with escapes.
    EXPECT_EQ(refusal(before + "\"hidden_size\": 4096,\n \"hidden\\u005fsize\": true}"),
              ":4:2:" + rest);
}

TEST_F(HfConfigTest, BadJsonHasALineAndAColumn) {
    const std::string remedy =
        "; JSON has texts in double quotes, no comments, and no comma before a closing bracket";
    EXPECT_EQ(
        refusal("{\"a\": 1,\n \"b\" 2}"),
        ":2:6: not valid JSON: syntax error while parsing object separator - unexpected number "
        "literal; expected ':'" +
            remedy);
    EXPECT_EQ(refusal(""),
              ":1:1: not valid JSON: syntax error while parsing value - unexpected end "
              "of input; expected '[', '{', or a literal" +
                  remedy);
    EXPECT_THAT(refusal("{\"a\": tru}"), StartsWith(":1:10: not valid JSON: "));
    EXPECT_THAT(refusal("{}\n{}"), StartsWith(":2:1: not valid JSON: "));
    EXPECT_THAT(refusal("{\"a\": 1e999}"), StartsWith(":1:11: not valid JSON: "));
    EXPECT_THAT(refusal("{\"a\": \"\xff\"}"), StartsWith(":1:8: not valid JSON: "));
    EXPECT_EQ(refusal("[1, 2]"),
              ":1:1: the top level is not a JSON object; a model's config.json is one object");
}

TEST_F(HfConfigTest, HostileFiles) {
    EXPECT_EQ(refusal(std::string(1'000'000, '[')),
              ":1:65: JSON nested deeper than 64 levels is not a model's config.json; name a "
              "model's config.json");
    EXPECT_EQ(refusal(std::string(10'000'000, ' ')),
              ": larger than 1 MiB, so not a model's config.json; name a model's config.json");
    EXPECT_THAT(refusal("{\"model_type\": \"" + std::string(900'000, 'x') + "\"}"),
                ::testing::SizeIs(::testing::Lt(400)));
    EXPECT_THAT(refusal(with("hidden_size", "\"" + std::string(900'000, 'x') + "\"")),
                ::testing::SizeIs(::testing::Lt(400)));
}

TEST(HfConfigFile, UnreadableFiles) {
    const std::string remedy = "; name a model's config.json";
    EXPECT_EQ(samples::message_of([] { read_hf_config("no/such/config.json"); }),
              "no/such/config.json: cannot read the file: No such file or directory" + remedy);
    EXPECT_EQ(samples::message_of([] { read_hf_config("/"); }),
              "/: cannot read the file: Is a directory" + remedy);
}

}  // namespace
}  // namespace podsim::workloads
