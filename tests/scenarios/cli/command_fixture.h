// Runs `podsim` in-process and keeps its output; holds scenario files for one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "scenarios/src/cli/cli.h"

namespace podsim::scenarios {

struct Outcome {
    int status = 0;
    std::string out;
    std::string err;
};

inline Outcome podsim(const std::vector<std::string>& args) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = run_command(args, out, err);
    return {status, out.str(), err.str()};
}

inline constexpr const char* kGood =
    "hardware: {chip: v5p, slice: 4x4x4}\n"
    "model: llama-3-8b\n"
    "batch: {tokens: 256Ki, sequence: 4096}\n"
    "mesh: {fsdp: x y z}\n";

/// Top-level keys of a scenario, in the words of its messages.
inline constexpr const char* kTopKeys =
    "name, hardware, model, batch, mesh, mesh_mapping, inference, training, overlap, search, "
    "perturb, program, evaluation, report, expect, serving";

/// Returns kGood with one substring replaced.
inline std::string good_but(const std::string& from, const std::string& to) {
    std::string text = kGood;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

/// Gives each test a folder of its own, which it removes afterwards.
class CommandTest : public ::testing::Test {
protected:
    void SetUp() override {
        // A short path, since messages cut a path after 60 bytes.
        std::string name = (std::filesystem::temp_directory_path() / "podsim.XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr) << name;
        folder_ = name;
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }

    std::string write(const std::string& text, const std::string& name = "s.yaml") const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }

    /// Returns a message without the test's folder.
    [[nodiscard]] std::string plain(std::string message) const {
        const std::string prefix = folder_.string() + '/';
        for (std::size_t at = 0; (at = message.find(prefix)) != std::string::npos;) {
            message.erase(at, prefix.size());
        }
        return message;
    }

    /// Expects `podsim run` to refuse that text with this one line.
    void expect_refused(const std::string& text, const std::string& message,
                        const std::vector<std::string>& more_args = {}) {
        std::vector<std::string> args = {"run", write(text)};
        args.insert(args.end(), more_args.begin(), more_args.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(plain(outcome.err), message + '\n');
    }

private:
    std::filesystem::path folder_;
};

}  // namespace podsim::scenarios
