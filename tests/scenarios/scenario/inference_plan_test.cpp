// The plan of a scenario with `inference:`: the source of its profile's overheads, and the bytes
// that its experts read.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "workloads/models/model.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

class InferencePlan : public CommandTest {
protected:
    [[nodiscard]] Scenario load(const std::string& hardware, const std::string& rest) const {
        return load_scenario(write("hardware: {" + hardware + "}\n" + rest));
    }
    [[nodiscard]] topology::Efficiency factors(const std::string& profile,
                                               const std::string& step) const {
        return load("chip: v6e, slice: 2x2, profile: " + profile, "model: llama-3-8b\n" + step)
            .hardware.efficiency;
    }
};

// A profile by its chip once lost the overheads of inference: 26 ms in place of 39, without
// a warning.
TEST_F(InferencePlan, EveryMeasuredProfileHasTheOverheadsOfInference) {
    const std::string decode = "inference: {step: decode, batch: 8, context: 512}\n";
    const topology::Efficiency training = *topology::measured_efficiency("v6e");
    const topology::Efficiency serving = topology::with_inference_overheads(training);
    EXPECT_EQ(factors("measured", decode), serving);
    EXPECT_EQ(factors("{base: v6e}", decode), serving);
    EXPECT_EQ(factors("measured@11", decode), serving);
    topology::Efficiency changed = serving;
    changed.kernel_s = 0;
    EXPECT_EQ(factors("{base: v6e, kernel_s: 0}", decode), changed);
    EXPECT_EQ(factors("{base: ideal}", decode), topology::Efficiency{});
    EXPECT_EQ(factors("ideal", decode), topology::Efficiency{});
    EXPECT_EQ(factors("{base: v6e}", "batch: {tokens: 32Ki, sequence: 2048}\n"), training);
    // A file states its own factors.
    write("name: mine\nversion: 1\nchips:\n  v6e: {mxu: 0.7}\n", "p.yaml");
    EXPECT_EQ(factors("p.yaml", decode).kernel_s, 0);
}

TEST_F(InferencePlan, ShowPrintsTheFactorsThatAreUsed) {
    const std::string file = write(
        "hardware: {chip: v6e, slice: 2x2}\nmodel: llama-3-8b\n"
        "inference: {step: decode, batch: 8, context: 512}\n");
    const topology::Efficiency used =
        topology::with_inference_overheads(*topology::measured_efficiency("v6e"));
    EXPECT_THAT(podsim({"show", file}).out,
                ::testing::HasSubstr(fmt::format("kernel_s: {}", used.kernel_s)));
}

// 512 tokens that each meet 2 of 8 experts meet all: 1 - (3/4)^512 is 1. The difference of reads at
// two bytes and at one is every element of a matmul once. A chip of two devices holds an expert's
// matrices once. In serving they are split over all devices, each of which sees every token (in
// training each device has its own tokens, and fetches for itself).
TEST_F(InferencePlan, DevicesOfAChipShareTheMatricesOfItsExperts) {
    const auto bytes = [&](const std::string& weights) {
        const Scenario scenario = load(
            "chip: tpu7x, slice: 1x1x1",
            "model: {layers: 3, d_model: 1024, d_ff: 2048, heads: 8, head_dim: 128, vocabulary: "
            "4096, experts: {count: 8, per_token: 2, d_ff: 2048}}\n"
            "inference: {step: decode, batch: 512, context: 512, weights: " +
                weights + "}\n");
        double sum = 0;
        const auto stages = workloads::build_stages(scenario.step().model, scenario.step().plan);
        for (const workloads::Op& op : stages.programs.front().ops) {
            const auto* work = std::get_if<workloads::Compute>(&op.work);
            sum += work != nullptr ? work->hbm.value() : 0;
        }
        return std::pair(sum, workloads::count_parameters(scenario.step().model));
    };
    const auto [two, count] = bytes("bf16");
    const double one = bytes("int8").first;
    const double experts = 3.0 * 8 * 3 * 1024 * 2048;
    const auto others = static_cast<double>(count.layers_matmul + count.unembedding) -
                        3.0 * 2 * 3 * 1024 * 2048;  // of one token: two experts
    EXPECT_DOUBLE_EQ(two - one, experts + others);
}

}  // namespace
}  // namespace podsim::scenarios
