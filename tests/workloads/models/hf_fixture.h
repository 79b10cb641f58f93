// Configs written by tests, and their refusals.
#pragma once

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "workloads/models/hf_config.h"

namespace podsim::workloads {

/// A fixture with a separate config file for every test.
class HfConfigTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        path_ = (std::filesystem::temp_directory_path() /
                 (std::string("podsim_") + test->name() + ".json"))
                    .string();
    }
    void TearDown() override { std::filesystem::remove(path_); }

    ModelSpec read(const std::string& text) {
        std::ofstream(path_, std::ios::binary) << text;
        return read_hf_config(path_);
    }

    /// Returns the message behind `<path>`; checks that it
    /// starts with the path and that the mark names it.
    std::string refusal(const std::string& text) {
        try {
            read(text);
        } catch (const sim::InputError& error) {
            EXPECT_EQ(error.mark().file, path_);
            EXPECT_THAT(error.what(), ::testing::StartsWith(path_ + ":"));
            return std::string(error.what()).substr(path_.size());
        }
        ADD_FAILURE() << "accepted";
        return {};
    }

    /// Returns a good config with one key's text replaced, or left out if it is empty.
    static std::string with(const std::string& key, const std::string& value) {
        const std::vector<std::pair<std::string, std::string>> keys{
            {"model_type", "\"llama\""},    {"hidden_size", "4096"},
            {"intermediate_size", "14336"}, {"num_hidden_layers", "32"},
            {"num_attention_heads", "32"},  {"num_key_value_heads", "8"},
            {"vocab_size", "128256"},       {"tie_word_embeddings", "false"},
            {"head_dim", "null"},           {"sliding_window", "null"},
            {"attention_bias", "false"},    {"rope_theta", "500000.0"}};
        std::string text = "{";
        for (const auto& [name, good] : keys) {
            const std::string& used = name == key ? value : good;
            if (!used.empty()) {
                text += (text.size() > 1 ? ", \"" : "\"") + name + "\": " + used;
            }
        }
        return text + "}";
    }

    std::string path_;
};

}  // namespace podsim::workloads
