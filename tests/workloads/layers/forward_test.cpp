// The forward pass of layers, and the parts that it is written with, know nothing of gradients.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "tests/checkout.h"

namespace podsim::workloads {
namespace {

/// A header of this folder and all that it includes of it.
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
        "workloads/builder/gradient_reductions.h", "workloads/builder/step_parts.h",
        "workloads/layers/attention_backward.h",   "workloads/layers/mlp_backward.h",
        "workloads/layers/experts_backward.h",     "workloads/layers/layer_backward.h",
        "workloads/layers/split_backward.h"};
    for (const std::string file :
         {"builder/forward_parts", "layers/block", "layers/attention", "layers/mlp",
          "layers/experts", "layers/layer", "layers/rematerialise"}) {
        for (const std::string end : {".h", ".cpp"}) {
            for (const std::string& included : includes_of("workloads/" + file + end)) {
                EXPECT_FALSE(gradients.contains(included)) << file << end << ": " << included;
            }
        }
    }
    // The test sees what it forbids.
    EXPECT_TRUE(includes_of("workloads/layers/layer_backward.h")
                    .contains("workloads/builder/gradient_reductions.h"));
}

}  // namespace
}  // namespace podsim::workloads
