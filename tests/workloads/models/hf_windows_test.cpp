// Layers of a config that attend to the whole sequence.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <string>

#include "sim/base/error.h"
#include "workloads/models/hf_config.h"

namespace podsim::workloads {
namespace {

class HfWindows : public ::testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }

    HfReading read(const std::string& type, const std::string& keys) {
        std::ofstream(path_, std::ios::binary)
            << "{\"model_type\": \"" + type +
                   "\", \"hidden_size\": 64, \"intermediate_size\": 64, \"num_attention_heads\": "
                   "2, \"num_key_value_heads\": 2, \"vocab_size\": 64, " +
                   keys + "}";
        return read_hf_config_fully(path_);
    }
    static std::string types(const std::string& letters) {
        std::string text =
            "\"num_hidden_layers\": " + std::to_string(letters.size()) + ", \"layer_types\": [";
        for (const char letter : letters) {
            text += text.back() == '[' ? "" : ", ";
            text += letter == 'F' ? "\"full_attention\"" : "\"sliding_attention\"";
        }
        return text + "]";
    }

private:
    const std::string path_ =
        (std::filesystem::temp_directory_path() /
         (std::string("podsim_windows_") +
          ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json"))
            .string();
};

// transformers writes Gemma 3's and Cohere 2's pattern with a leading underscore
// (configuration_gemma3.py).
TEST_F(HfWindows, ThePatternMayHaveAnUnderscore) {
    const std::string three = types("SSFSSF") + ", \"sliding_window\": 32";
    for (const char* const key : {"sliding_window_pattern", "_sliding_window_pattern"}) {
        for (const char* const type : {"gemma3_text", "cohere2"}) {
            const HfReading reading = read(type, three + ", \"" + std::string(key) + "\": 3");
            EXPECT_EQ(reading.model.global_every, 3) << key;
            EXPECT_EQ(reading.model.window, 32);
        }
    }
    EXPECT_THROW(read("gemma3_text", three + ", \"_sliding_window_pattern\": 2"), sim::InputError);
}

// Without `layer_types` their classes make it: every fourth layer, or by sliding_window_pattern,
// attends to all (configuration_olmo3.py, configuration_exaone4.py, __post_init__).
TEST_F(HfWindows, ClassesMakeTheirPattern) {
    const std::string eight = "\"num_hidden_layers\": 8";
    for (const char* const type : {"olmo3", "exaone4"}) {
        EXPECT_EQ(read(type, eight).model.window, 4096) << type;
        EXPECT_EQ(read(type, eight + ", \"sliding_window\": 32").model.window, 32);
        EXPECT_EQ(read(type, eight + ", \"sliding_window\": 32").model.global_every, 4);
        EXPECT_EQ(read(type, eight + ", \"sliding_window\": null").model.window, 0);
        EXPECT_EQ(read(type, types("SFSF") + ", \"sliding_window\": 32").model.global_every, 2);
    }
    const std::string pattern = eight + ", \"sliding_window\": 32, \"sliding_window_pattern\": ";
    EXPECT_EQ(read("exaone4", pattern + "2").model.global_every, 2);
    EXPECT_THROW(read("exaone4", pattern + "\"LLLG\""), sim::InputError);
}

// Llama 4's list of layers with experts has priority over interleave_moe_layer_step
// (configuration_llama4.py).
TEST_F(HfWindows, LayersWithExpertsMayStandOneByOne) {
    const std::string llama4 =
        "\"num_hidden_layers\": 4, \"num_local_experts\": 4, \"num_experts_per_tok\": 1, "
        "\"intermediate_size_mlp\": 128, \"interleave_moe_layer_step\": 1";
    const auto every = [&](const std::string& layers) {
        return read("llama4_text", llama4 + ", \"moe_layers\": " + layers).model.experts.every;
    };
    EXPECT_EQ(every("null"), 1);
    EXPECT_EQ(every("[0, 1, 2, 3]"), 1);
    EXPECT_EQ(every("[1, 3]"), 2);
    EXPECT_EQ(every("[3]"), 4);
    for (const char* const other : {"[]", "[0, 2]", "[1]", "[1, 2]", "\"all\"", "[\"1\"]", "[9]"}) {
        EXPECT_THROW(every(other), sim::InputError) << other;
    }
}

// In Ministral 8B it is the first of every four layers. As many layers have the window as here,
// where it is the last.
TEST_F(HfWindows, TheFirstOfEveryFewMaySeeAll) {
    const HfReading reading = read("ministral", types("FSSSFSSS") + ", \"sliding_window\": 32");
    EXPECT_EQ(reading.model.global_every, 4);
    EXPECT_EQ(reading.model.window, 32);
    EXPECT_EQ(layer_kinds(reading.model),
              (std::map<LayerKind, std::int64_t>{{{.local = true}, 6}, {{.local = false}, 2}}));
    EXPECT_THAT(reading.notes,
                ::testing::Contains(
                    "of every 4 layers the last sees the whole sequence here, not the first"));
    EXPECT_EQ(read("ministral", types("SSSF") + ", \"sliding_window\": 32").model.global_every, 4);
    EXPECT_EQ(read("ministral", types("FFFF") + ", \"sliding_window\": 32").model.window, 0);
    for (const char* const other : {"FSSFSS"
                                    "S",
                                    "FSFFSS", "SFSS"}) {
        EXPECT_THROW(read("ministral", types(other) + ", \"sliding_window\": 32"), sim::InputError)
            << other;
    }
}

}  // namespace
}  // namespace podsim::workloads
