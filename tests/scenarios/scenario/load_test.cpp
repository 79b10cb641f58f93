// The result of loading a scenario: defaults, overrides, every section.
#include "scenarios/src/scenario/load.h"

#include <gmock/gmock.h>

#include "scenarios/src/scenario/training_step.h"
#include "sim/base/error.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using Load = CommandTest;

TEST_F(Load, DefaultsAreTheOnesOfTheTable) {
    const Scenario scenario = load_scenario(write(kGood, "a-name.yaml"));
    EXPECT_EQ(scenario.name, "a-name");
    EXPECT_EQ(scenario.hardware.chip.name, "v5p");
    EXPECT_EQ(scenario.hardware.profile, "measured");
    EXPECT_EQ(scenario.hardware.latency, LatencyRule::additive);
    EXPECT_EQ(scenario.hardware.ici_rates, topology::IciRates::book);
    EXPECT_EQ(scenario.hardware.message_cap.value(), 4.0 * 1024 * 1024);
    EXPECT_FALSE(scenario.hardware.twisted);
    EXPECT_EQ(scenario.step().plan.batch.tokens, 262144);
    EXPECT_EQ(scenario.step().plan.batch.sequence, 4096);
    EXPECT_EQ(scenario.step().plan.ways.fsdp, 64);
    EXPECT_EQ(scenario.step().plan.ways.tensor, 1);
    EXPECT_TRUE(scenario.step().plan.attention.causal);
    EXPECT_EQ(to_string(scenario.step().plan.remat), "full");
    EXPECT_EQ(scenario.step().plan.optimizer, workloads::Optimizer::adam);
    EXPECT_EQ(scenario.step().plan.precision.gradients, 2);
    EXPECT_EQ(scenario.step().plan.overlap.prefetch_layers, 1);
    EXPECT_EQ(scenario.step().plan.overlap.reductions_in_flight, 2);
    EXPECT_THAT(scenario.step().mesh_axes, testing::ElementsAre("x y z"));
    EXPECT_FALSE(scenario.step().report.tokens.has_value());
    EXPECT_TRUE(scenario.expectations.empty());
}

TEST_F(Load, WithoutAMeshFsdpTakesEverything) {
    const Scenario scenario = load_scenario(write(good_but("mesh: {fsdp: x y z}\n", "")));
    EXPECT_THAT(scenario.step().mesh_axes, testing::ElementsAre("x y z"));
    EXPECT_EQ(scenario.step().plan.ways.fsdp, 64);
}

TEST_F(Load, SizesAloneArePlaced) {
    const Scenario scenario =
        load_scenario(write(good_but("fsdp: x y z", "fsdp: 8, context: 2, tensor: 4")));
    EXPECT_EQ(scenario.step().plan.ways.fsdp, 8);
    EXPECT_EQ(scenario.step().plan.ways.context, 2);
    EXPECT_EQ(scenario.step().plan.ways.tensor, 4);
}

// Programs may use the whole capacity, as always, unless the scenario reserves a fraction of it.
TEST_F(Load, WhatTheRuntimeKeepsOfTheMemory) {
    const auto usable = [&](const std::string& chip) {
        return load_scenario(write(good_but("chip: v5p", "chip: " + chip)))
            .hardware.chip.usable_hbm()
            .value();
    };
    constexpr double kGiB = 1024.0 * 1024 * 1024;
    EXPECT_EQ(usable("v5p"), 95.74 * kGiB);
    EXPECT_EQ(usable("{base: v5p, hbm_reserved: 2 GiB}"), 94 * kGiB);
    EXPECT_EQ(usable("{base: v5p, hbm_reserved: 0 B}"), 96 * kGiB);
    EXPECT_EQ(usable("{base: v5p, hbm_capacity: 80 GiB}"), 80 * kGiB);
    EXPECT_EQ(usable("{base: v5p, hbm_capacity: 80 GiB, hbm_reserved: 1 GiB}"), 79 * kGiB);
}

TEST_F(Load, EverySection) {
    const Scenario scenario = load_scenario(write(R"(
name: everything
hardware:
  chip: {base: v4p, name: mine, ici_one_way: 50 GB/s, ici_latency: 0 us, hbm_bandwidth: inf GB/s,
         hbm_capacity: 64 GiB, bf16_flops: 300 TFLOP/s, int8_ops: 600 TOP/s, mxu: 256,
         pcie_one_way: 20 GB/s, pcie_latency: 2 us, dcn_per_host: 200 Gb/s, dcn_latency: 20 us,
         host: 2x2x2, pod: 8x8x8, wraparound: every_axis}
  slice: 3x5x2
  slices: 1
  twisted: false
  profile: ideal
  ici_rates: vendor
  latency: floor
  message_cap: 1 MiB
model: {name: small, layers: 2, d_model: 512, d_ff: 1024, heads: 8, kv_heads: 4, head_dim: 64,
        vocabulary: 1000, mlp: plain, tied_embeddings: true}
batch: {tokens: 120Ki, sequence: 4Ki}
mesh: {data: y, fsdp: x, tensor: z}
training: {precision: bf16, gradients: fp32, optimizer: sgd, remat: matmuls, microbatches: 1,
           attention: full}
overlap: {prefetch_layers: 0, reductions_in_flight: 3, tensor: blocking}
perturb: []
report: {tokens: 15T, price: 4.20 USD/chip-hour}
expect: {mfu: {within: 10 %, of: 45 %, source: a table}, tokens_per_s: {within: 1 %, of: 1.5M}}
)"));
    const IdealHardware& hardware = scenario.hardware;
    EXPECT_EQ(hardware.chip.name, "mine");
    EXPECT_EQ(hardware.chip.ici_one_way(hardware.ici_rates).value(), 50e9);
    EXPECT_EQ(hardware.chip.ici_latency.value.value(), 0);
    EXPECT_EQ(hardware.chip.hbm_capacity.value.value(), 64.0 * 1024 * 1024 * 1024);
    EXPECT_EQ(hardware.chip.mxu_dimension.value, 256);
    EXPECT_EQ(hardware.chip.dcn_per_host.value.value(), 25e9);
    EXPECT_EQ(hardware.chip.host_shape.value, (topology::Point{2, 2, 2}));
    EXPECT_EQ(hardware.slice.lengths, (topology::Point{3, 5, 2}));
    EXPECT_EQ(hardware.latency, LatencyRule::floor);
    EXPECT_EQ(hardware.message_cap.value(), 1024.0 * 1024);
    EXPECT_FALSE(scenario.step().model.gated_mlp);
    EXPECT_TRUE(scenario.step().model.tied_embeddings);
    EXPECT_EQ(scenario.step().plan.ways.data, 5);
    EXPECT_EQ(scenario.step().plan.ways.fsdp, 3);
    EXPECT_EQ(scenario.step().plan.ways.tensor, 2);
    EXPECT_FALSE(scenario.step().plan.attention.causal);
    EXPECT_EQ(scenario.step().plan.remat.policy, workloads::RematPolicy::matmuls);
    EXPECT_EQ(scenario.step().plan.optimizer, workloads::Optimizer::sgd);
    EXPECT_EQ(scenario.step().plan.precision.gradients, 4);
    EXPECT_EQ(scenario.step().plan.overlap.prefetch_layers, 0);
    EXPECT_EQ(scenario.step().plan.overlap.reductions_in_flight, 3);
    EXPECT_EQ(scenario.step().report.tokens, 15e12);
    EXPECT_EQ(scenario.step().report.usd_per_chip_hour, 4.2);
    ASSERT_EQ(scenario.expectations.size(), 2U);
    EXPECT_EQ(scenario.expectations[0].of, 0.45);
    EXPECT_EQ(scenario.expectations[0].within, 0.1);
    EXPECT_EQ(scenario.expectations[0].source, "a table");
    EXPECT_EQ(scenario.expectations[1].of, 1.5e6);
}

TEST_F(Load, GroupsOfWeights) {
    const Scenario plain = load_scenario(write(kGood));
    EXPECT_EQ(plain.step().plan.overlap.weights, workloads::WeightGroups::layer);
    EXPECT_FALSE(plain.step().plan.overlap.layer_loop);
    const Scenario scenario = load_scenario(write(
        std::string(kGood) + "overlap: {weights: matmul, layers: loop, prefetch_layers: 0.5}\n"));
    EXPECT_EQ(scenario.step().plan.overlap.weights, workloads::WeightGroups::matmul);
    EXPECT_TRUE(scenario.step().plan.overlap.layer_loop);
    EXPECT_EQ(scenario.step().plan.overlap.prefetch_layers, 0.5);
}

TEST_F(Load, SettingsReplaceAndAdd) {
    const std::vector<std::string> settings = {
        "hardware.slice=4x4x8", "hardware.chip.ici_latency=0 us",
        "model.layers=4",       "overlap.prefetch_layers=0",
        "mesh={fsdp: 128}",     "name=a=b"};
    const Scenario scenario = load_scenario(write(kGood), settings);
    EXPECT_EQ(scenario.hardware.slice.size(), 128);
    EXPECT_EQ(scenario.hardware.chip.name, "v5p (modified)");
    EXPECT_EQ(scenario.hardware.chip.ici_latency.value.value(), 0);
    EXPECT_EQ(scenario.step().model.layers, 4);
    EXPECT_EQ(scenario.step().model.d_model, 4096);
    EXPECT_EQ(scenario.step().plan.overlap.prefetch_layers, 0);
    EXPECT_EQ(scenario.step().plan.ways.fsdp, 128);
    EXPECT_EQ(scenario.name, "a=b");
}

TEST_F(Load, HuggingFaceConfigsAreRelativeToTheScenario) {
    write(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
              "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
              "vocab_size": 128256, "tie_word_embeddings": false})",
          "config.json");
    const Scenario scenario =
        load_scenario(write(good_but("llama-3-8b", "{hf_config: config.json}")));
    EXPECT_EQ(workloads::count_parameters(scenario.step().model).total,
              workloads::count_parameters(workloads::find_model("llama-3-8b")).total);
}

TEST_F(Load, OtherKeysChangeAHuggingFaceConfig) {
    write(
        "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
        "\"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, "
        "\"vocab_size\": 128256}",
        "config.json");
    const workloads::ModelSpec model =
        load_scenario(write(good_but("llama-3-8b", "{hf_config: config.json, layers: 4}")))
            .step()
            .model;
    EXPECT_EQ(model.layers, 4);
    EXPECT_EQ(model.kv_heads, 8);
    EXPECT_TRUE(model.name.ends_with("config.json (modified)")) << model.name;
}

TEST_F(Load, SlicesByNameSayTheirChip) {
    std::string text(kGood);
    const std::size_t begin = text.find("{chip:");
    const std::size_t end = text.find('}', begin);
    const auto hardware = [&](const std::string& map) {
        std::string with = text;
        with.replace(begin, end + 1 - begin, map);
        return load_scenario(write(with)).hardware;
    };
    const auto named = hardware("{slice: v5p-128}");
    EXPECT_EQ(named.chip.name, "v5p");
    EXPECT_EQ(topology::to_string(named.shape), "4x4x4");
    EXPECT_EQ(hardware("{chip: v5p, slice: v5p-128}").chips(), 64);
    EXPECT_EQ(hardware("{chip: {base: v5p, mxu: 256}, slice: v5p-128}").chips(), 64);
    EXPECT_EQ(hardware("{chip: v4, slice: v4-128}").profile,
              hardware("{chip: v4p, slice: 4x4x4}").profile);
}

// DeepSeek-V3 and Gemma 3, written out, are the models of the catalogue.
TEST_F(Load, InlineStructuresAreRead) {
    const auto model = [&](const std::string& text) {
        return load_scenario(write(good_but("llama-3-8b", text))).step().model;
    };
    const workloads::ModelSpec deepseek = model(
        "{layers: 61, d_model: 7168, d_ff: 18432, heads: 128, head_dim: 192, vocabulary: 129280, "
        "latent: {q_rank: 1536, kv_rank: 512, rope_dim: 64, value_dim: 128}, experts: {count: 256, "
        "per_token: 8, shared: 1, d_ff: 2048, first_dense: 3, router_bias: true}}");
    const workloads::ModelSpec& v3 = workloads::find_model("deepseek-v3");
    EXPECT_EQ(deepseek.latent, v3.latent);
    EXPECT_EQ(deepseek.experts, v3.experts);
    EXPECT_EQ(workloads::count_parameters(deepseek).total, workloads::count_parameters(v3).total);
    const workloads::ModelSpec gemma = model(
        "{layers: 26, d_model: 1152, d_ff: 6912, heads: 4, kv_heads: 1, head_dim: 256, vocabulary: "
        "262144, tied_embeddings: true, norms: 4, qk_norm: true, window: 512, global_every: 6}");
    EXPECT_EQ(workloads::layer_kinds(gemma),
              workloads::layer_kinds(workloads::find_model("gemma-3-1b")));
    EXPECT_EQ(workloads::count_parameters(gemma).total, 999'885'952);
    const workloads::ModelSpec gpt = model(
        "{layers: 12, d_model: 768, d_ff: 3072, heads: 12, vocabulary: 50257, tied_embeddings: "
        "true, "
        "mlp: plain, norm: layer, biases: all, positions: 1024}");
    EXPECT_EQ(workloads::count_parameters(gpt).total, 124'439'808);
    const workloads::ModelSpec palm = model(
        "{layers: 118, d_model: 18432, d_ff: 73728, heads: 48, kv_heads: 1, head_dim: 256, "
        "vocabulary: "
        "256000, tied_embeddings: true, parallel_block: true}");
    EXPECT_EQ(workloads::count_parameters(palm).total,
              workloads::count_parameters(workloads::find_model("palm-540b")).total);
    const workloads::ModelSpec larger =
        model("{base: mixtral-8x7b, experts: {count: 16, per_token: 4}}");
    EXPECT_EQ(larger.experts.d_ff, 14336);
    EXPECT_EQ(larger.published_parameters, 0);
}

TEST_F(Load, TheLibraryOfScenariosLoads) {
    const std::string library = source_folder() + "/scenarios/";
    const Scenario pod = load_scenario(library + "quickstart/llama3-70b-v5p-pod.yaml");
    EXPECT_EQ(pod.hardware.slice.size(), 8960);
    EXPECT_EQ(pod.step().plan.ways.fsdp, 1120);
    EXPECT_EQ(pod.step().plan.ways.context, 4);
    EXPECT_EQ(pod.step().plan.ways.tensor, 2);
    EXPECT_THAT(pod.step().mesh_axes, testing::ElementsAre("x/4 y z/2", "x/2%2 z%2", "x%2"));
    EXPECT_EQ(load_scenario(library + "examples/llama3-8b-fsdp-v5p.yaml").step().plan.ways.fsdp,
              4096);
    EXPECT_EQ(load_scenario(library + "examples/llama2-13b-v5e-pod.yaml").step().plan.ways.tensor,
              4);
}

TEST_F(Load, GroupsFromAxes) {
    topology::Lattice slice;
    slice.lengths = {4, 6, 8};
    using topology::AxisFactor;
    EXPECT_EQ(parse_members("xyz", slice).group,
              (std::vector<AxisFactor>{{0, 1, 4}, {1, 1, 6}, {2, 1, 8}}));
    EXPECT_EQ(parse_members("x%2 y", slice).group, (std::vector<AxisFactor>{{0, 1, 2}, {1, 1, 6}}));
    EXPECT_EQ(parse_members("z/2%2", slice).group, (std::vector<AxisFactor>{{2, 2, 2}}));
    EXPECT_EQ(parse_members("z/2 z%2", slice).group, (std::vector<AxisFactor>{{2, 1, 8}}));
    EXPECT_THROW(static_cast<void>(parse_members("x%2 x", slice)), sim::InputError);
}

}  // namespace
}  // namespace podsim::scenarios
