// The forward pass of layers, and the parts that write it, do not depend on gradients.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "tests/checkout.h"

namespace podsim::workloads {
namespace {

/// Collects a header of this folder and all headers of the folder that it includes.
void read_includes(const std::string& path, std::set<std::string>& seen) {
    if (!seen.insert(path).second) {
        return;
    }
    std::ifstream file(std::filesystem::path(source_folder()) / path);
    ASSERT_TRUE(file) << path;
    const std::string start = "#include \"workloads/";
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(start)) {
            const std::size_t begin = line.find('"') + 1;
            read_includes(line.substr(begin, line.rfind('"') - begin), seen);
        }
    }
}

std::set<std::string> includes_of(const std::string& path) {
    std::set<std::string> seen;
    read_includes(path, seen);
    return seen;
}

TEST(Forward, IncludesNoHeaderOfGradients) {
    const std::set<std::string> gradients{
        "workloads/step/gradient_reductions.h", "workloads/step/step_parts.h",
        "workloads/step/attention_backward.h",  "workloads/step/mlp_backward.h",
        "workloads/step/experts_backward.h",    "workloads/step/layer_backward.h",
        "workloads/step/split_backward.h"};
    for (const std::string file :
         {"forward_parts", "block", "attention", "mlp", "experts", "layer", "rematerialise"}) {
        for (const std::string end : {".h", ".cpp"}) {
            for (const std::string& included : includes_of("workloads/step/" + file + end)) {
                EXPECT_FALSE(gradients.contains(included)) << file << end << ": " << included;
            }
        }
    }
    // The test detects an include that it forbids.
    EXPECT_TRUE(includes_of("workloads/step/layer_backward.h")
                    .contains("workloads/step/gradient_reductions.h"));
}

}  // namespace
}  // namespace podsim::workloads
