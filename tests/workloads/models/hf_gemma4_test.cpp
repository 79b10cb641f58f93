// Gemma 4's config files: refusals, and the sizes of global layers.
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

#include "tests/checkout.h"
#include "tests/workloads/models/hf_fixture.h"
#include "workloads/models/model.h"

namespace podsim::workloads {
namespace {

using ::testing::EndsWith;

TEST_F(HfConfigTest, Gemma4WithEmbeddingsOfEveryLayerIsNotModelled) {
    std::ifstream file(source_folder() + "/tests/workloads/configs/gemma-4-31b.json");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto with_eight = [&](const std::string& key) {
        std::string other = text;
        const std::string none = "\"" + key + "\": 0";
        EXPECT_NE(other.find(none), std::string::npos);
        return other.replace(other.find(none), none.size(), "\"" + key + "\": 8");
    };
    EXPECT_THAT(refusal(with_eight("hidden_size_per_layer_input")),
                EndsWith(": embeddings of every layer ('hidden_size_per_layer_input') are not "
                         "modelled"));
    EXPECT_THAT(refusal(with_eight("num_kv_shared_layers")),
                EndsWith(": layers with the keys and values of others ('num_kv_shared_layers') are "
                         "not modelled"));
}

// In transformers' configuration_gemma4.py global layers have their own key heads only if values
// are the keys. Newer files give the sizes of global layers by their numbers.
TEST_F(HfConfigTest, Gemma4SaysItsGlobalLayersInSeveralWays) {
    std::ifstream file(source_folder() + "/tests/workloads/configs/gemma-4-31b.json");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto instead = [&](std::string from, const std::string& key, const std::string& to) {
        const std::size_t begin = from.find("\"" + key + "\"");
        EXPECT_NE(begin, std::string::npos) << key;
        return from.replace(begin, from.find('\n', begin) - begin, to);
    };
    EXPECT_EQ(read(instead(text, "attention_k_eq_v", "\"attention_k_eq_v\": false,")).global,
              (GlobalAttention{.kv_heads = 0, .head_dim = 512, .shared_kv = false}));
    std::string layers = "\"per_layer_config\": {";
    for (int layer = 5; layer < 60; layer += 6) {
        layers += fmt::format("{}\"{}\": {{\"head_dim\": 512, \"num_key_value_heads\": 4}}",
                              layer > 5 ? ", " : "", layer);
    }
    const auto by_layer = [&](const std::string& said) {
        return instead(instead(text, "global_head_dim", said), "num_global_key_value_heads", "");
    };
    EXPECT_EQ(read(by_layer(layers + "},")), read(text));
    const std::string refused =
        "'per_layer_config' is not the same sizes of all global layers; other sizes by layer are "
        "not modelled";
    EXPECT_THAT(refusal(by_layer(layers + ", \"6\": {\"head_dim\": 512}},")), EndsWith(refused));
    EXPECT_THAT(refusal(by_layer("\"per_layer_config\": {},")), EndsWith(refused));
    EXPECT_THAT(refusal(by_layer("\"use_bidirectional_attention\": \"all\",")),
                EndsWith("attention to later tokens is not modelled"));
    EXPECT_THAT(refusal(instead(text, "hidden_size_per_layer_input", "")),
                EndsWith("embeddings of every layer ('hidden_size_per_layer_input') are not "
                         "modelled"));
}

}  // namespace
}  // namespace podsim::workloads
