// Steps that keep named tensors at the host: PCIe in times, bounds, accounts, reports; bad names.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "scenarios/src/advise/memory_report.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::expect_same_spans;
using samples::floor_ps;
using samples::make_scenario;
using samples::random_scenario;
using samples::small_model;
using samples::span_of;
using samples::sum;
using ::testing::HasSubstr;
using ::testing::Not;
using workloads::LayerTensor;
using workloads::RematPolicy;

/// 4 layers; t = 2048 tokens of a tensor group of 4, r = 512 rows of 512 elements: 524,288 B of a
/// layer's input.
constexpr double kRow = 512 * 512 * 2;
constexpr double kQkv = 2048 * (2 + 2 * 1) * 64 * 2;

Scenario offloading(workloads::TensorSet offload) {
    Scenario scenario = make_scenario("v5p", {4, 4, 4}, small_model(4),
                                      {{"fsdp", "x y"}, {"tensor", "z"}}, 64, 512);
    scenario.step().plan.remat.policy = RematPolicy::named;
    scenario.step().plan.remat.names.offload = offload;
    return scenario;
}

sim::Time share_of(const std::vector<Share>& shares, const std::string& name) {
    for (const Share& share : shares) {
        if (share.name == name) {
            return share.time;
        }
    }
    return {};
}

TEST(OffloadStep, FoldedEqualsUnfoldedToThePicosecond) {
    for (const workloads::TensorSet& offload :
         {workloads::TensorSet{LayerTensor::input},
          workloads::TensorSet{LayerTensor::input, LayerTensor::qkv, LayerTensor::gate_up}}) {
        const Scenario scenario = offloading(offload);
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        const StepResult whole = simulate_step(scenario, Fold::off);
        EXPECT_EQ(folded.simulated_chips, 1);  // PCIe alone imposes nothing
        EXPECT_EQ(whole.simulated_chips, 64);
        EXPECT_EQ(whole.step_time, folded.step_time);
        EXPECT_EQ(whole.events, 64 * folded.events);
        EXPECT_EQ(whole.memory.peak, folded.memory.peak);
        expect_same_spans(folded, whole);
    }
}

// Each PCIe link carries each layer's tensors once in each direction; the first transfer finds it
// idle: bytes / 15 GB/s and a latency of 1 us.
TEST(OffloadStep, BytesAndTimesOfTheLinks) {
    const StepResult result =
        simulate_step(offloading({LayerTensor::input, LayerTensor::qkv}), Fold::automatic);
    const auto found = std::ranges::find(result.links, "pcie", &LinkUse::name);
    ASSERT_NE(found, result.links.end());
    const LinkUse& pcie = *found;
    EXPECT_NEAR(pcie.bytes.value(), 4 * (kRow + kQkv), 1);
    EXPECT_NEAR(pcie.busiest_bytes.value(), 4 * (kRow + kQkv), 1);
    const Span first = span_of(result, "layer 0 forward offload decoder_layer_input");
    EXPECT_EQ(first.track, "offload");
    EXPECT_EQ(first.start, span_of(result, "embedding forward scatter rows").end);
    EXPECT_EQ(first.end - first.start,
              sim::round_up(sim::Seconds(kRow / 15e9)) + sim::Time{1'000'000});
}

// With PCIe at 1 GB/s the traffic of one direction is the bound; the step waits for it, and
// reports this.
TEST(OffloadStep, ASlowLinkIsTheBoundAndOnTheCriticalPath) {
    Scenario scenario = offloading({LayerTensor::input, LayerTensor::qkv});
    scenario.hardware.chip.pcie_one_way.value = sim::BytesPerSecond(1e9);
    const StepResult result = simulate_step(scenario, Fold::automatic);
    EXPECT_EQ(result.lower.bound, "pcie");
    EXPECT_DOUBLE_EQ(result.lower.time.value(), 4 * (kRow + kQkv) / 1e9);
    EXPECT_EQ(sum(result.gap).ps, result.step_time.ps - floor_ps(result.lower.time));
    EXPECT_EQ(sum(result.critical_path), result.step_time);
    EXPECT_GT(share_of(result.critical_path, "PCIe").seconds(), result.lower.time.value());
    EXPECT_GT(share_of(result.exposed, "PCIe to the host (offload)").ps, 0);
    EXPECT_GT(share_of(result.exposed, "PCIe from the host (offload)").ps, 0);
    EXPECT_EQ(sum(result.exposed), result.exposed_total);
    EXPECT_EQ(result.compute + result.exposed_total, result.step_time);
}

// The tensors of fetch + 1 layers are in HBM at once, at any rate of the link: the run never holds
// more activations than program order does.
TEST(OffloadStep, ASlowLinkHoldsUpTheStepAndNotTheMemory) {
    for (const double rate : {1e8, 1e10, 1e12}) {
        Scenario scenario = offloading({LayerTensor::input});
        scenario.hardware.chip.pcie_one_way.value = sim::BytesPerSecond(rate);
        scenario.step().plan.overlap.fetch_layers = 0;
        const StepResult result = simulate_step(scenario, Fold::automatic);
        for (const auto& [name, bytes] : result.memory.at_peak) {
            EXPECT_TRUE(name != "activations" || bytes.value() <= 2 * kRow) << rate;
        }
    }
}

// The look-ahead of fetches does not depend on that of weights. A regression: when the first gather
// of weights could begin no sooner than its layer, the transfers from the host could not either,
// and a step whose memory left no look-ahead waited for all of them. Layer 2's tensor returns while
// layer 3's backward pass runs, for any look-ahead of weights. With a fetch of 0 the transfer
// begins after that pass.
TEST(OffloadStep, FetchesAreNoLookAheadOfWeights) {
    const auto fetch_of = [](double prefetch, int fetch) {
        Scenario scenario = offloading({LayerTensor::input});
        scenario.step().plan.overlap.prefetch_layers = prefetch;
        scenario.step().plan.overlap.fetch_layers = fetch;
        const StepResult result = simulate_step(scenario, Fold::automatic);
        sim::Time last;  // of layer 3's backward pass
        for (const Span& span : spans_of(result.reported_chip)) {
            if (span.track == "compute" && span.name.starts_with("layer 3 backward")) {
                last = std::max(last, span.end);
            }
        }
        return last - span_of(result, "layer 2 backward fetch decoder_layer_input").start;
    };
    for (const double prefetch : {0.0, 1.0, 2.0}) {
        EXPECT_GT(fetch_of(prefetch, 1).ps, 0) << prefetch;
        EXPECT_LE(fetch_of(prefetch, 0).ps, 0) << prefetch;
    }
}

TEST(OffloadStep, AccountsAddUpAndNothingBeatsTheRoofline) {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = random_scenario(random);
        scenario.step().plan.remat.policy = RematPolicy::named;
        for (const LayerTensor tensor : workloads::kLayerTensors) {
            const auto where = std::uniform_int_distribution<int>(0, 2)(random);
            if (where > 0) {
                (where == 1 ? scenario.step().plan.remat.names.save
                            : scenario.step().plan.remat.names.offload)
                    .add(tensor);
            }
        }
        scenario.hardware.chip.pcie_one_way.value =
            sim::BytesPerSecond(std::pow(10.0, std::uniform_int_distribution<int>(8, 11)(random)));
        const StepResult result = simulate_step(scenario, Fold::automatic);
        EXPECT_GE(result.step_time.ps, floor_ps(result.lower.time));
        EXPECT_EQ(sum(result.gap).ps, result.step_time.ps - floor_ps(result.lower.time));
        EXPECT_EQ(sum(result.exposed), result.exposed_total);
        EXPECT_EQ(result.compute + result.exposed_total, result.step_time);
        EXPECT_EQ(sum(result.critical_path), result.step_time);
        const StepResult full = simulate_step(scenario, Fold::automatic, {.reuse = false});
        EXPECT_EQ(full.step_time, result.step_time);
    }
}

class OffloadInput : public CommandTest {};

TEST_F(OffloadInput, ReportAndTraceNameWhatIsOffloaded) {
    const Outcome outcome = podsim(
        {"run",
         write(std::string(kGood) + "training: {remat: {save: [out_proj], offload: "
                                    "[decoder_layer_input, query_proj, key_proj, value_proj]}}\n"),
         "--trace", path("t.json"), "--show", "links"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out,
                HasSubstr("remat {save: [out_proj], offload: [decoder_layer_input, qkv_proj]}"));
    EXPECT_THAT(outcome.out, HasSubstr("\n  pcie "));
    std::ifstream trace(path("t.json"));
    std::stringstream text;
    text << trace.rdbuf();
    EXPECT_THAT(text.str(), HasSubstr("\"Offload from host\""));
    EXPECT_THAT(text.str(), HasSubstr("\"fetch qkv_proj\""));
}

TEST_F(OffloadInput, TheLayersInputsAreOfferedAsARemedy) {
    // Peaks are those of the programs in order, with the look-ahead of a run.
    const auto text_of = [&](const std::string& remat, double peak, double capacity) {
        const Scenario scenario =
            load_scenario(write(std::string(kGood) + "training: {remat: " + remat + "}\n"));
        StepResult result;
        result.chips = 64;
        result.memory.peak = sim::Bytes(peak);
        result.memory.capacity = sim::Bytes(capacity);
        return memory_report(scenario, result);
    };
    EXPECT_THAT(text_of("none", 23.81e9, 10e9),
                HasSubstr("    training.remat: {offload: [decoder_layer_input]}: peak "));
    EXPECT_THAT(text_of("{save: [decoder_layer_input, qkv_proj]}", 8.24e9, 7.9e9),
                HasSubstr("    training.remat: {save: [qkv_proj], offload: [decoder_layer_input]}: "
                          "peak "));
    EXPECT_THAT(text_of("{offload: [decoder_layer_input]}", 6.02e9, 5e9),
                Not(HasSubstr("offload")));
}

TEST_F(OffloadInput, BadNames) {
    const auto refused = [&](const std::string& remat, const std::string& message) {
        expect_refused(std::string(kGood) + "training: {remat: " + remat + "}\n", message);
    };
    const std::string names =
        "allowed: decoder_layer_input, qkv_proj, query_proj, key_proj, value_proj, kv_proj, "
        "query_wa_proj, kv_wa_proj, mla_q, mla_kv, attention_out, context, out_proj, mlp_gate_up, "
        "mlp_gate, mlp_up, mlpwi, mlpwi_0, mlpwi_1, moe_mlpwi_0, moe_mlpwi_1, mlp_hidden, mlp_out, "
        "mlpwo, moe_mlpwo";
    refused("{save: [qkv_prj]}",
            "s.yaml:5:27: unknown training.remat.save 'qkv_prj'; did you mean "
            "'qkv_proj'? " +
                names);
    // A text is a list of one.
    refused("{save: nonsense}", "s.yaml:5:26: unknown training.remat.save 'nonsense'; " + names);
    refused("{offload: [decoder_layer]}",
            "s.yaml:5:30: unknown training.remat.offload 'decoder_layer'; did you mean "
            "'decoder_layer_input'? " +
                names);
    refused("{save: [query_proj, key_proj]}",
            "s.yaml:5:26: training.remat.save: only a part of qkv_proj, which one matmul writes; "
            "write qkv_proj");
    refused("{save: [out_proj, out_proj]}",
            "s.yaml:5:37: training.remat.save: 'out_proj' stands twice; write each tensor once");
    refused("{save: [mlpwi_0]}",
            "s.yaml:5:26: training.remat.save: only a part of mlp_gate_up, which one matmul "
            "writes; write mlp_gate_up");
    refused("{save: [context], offload: [attention_out]}",
            "s.yaml:5:19: remat both saves and offloads attention_out; name it once: saved tensors "
            "stay in HBM, offloaded ones go to the host");
    refused("{offlaod: [context]}",
            "s.yaml:5:20: unknown training.remat key 'offlaod'; did you mean 'offload'? allowed: "
            "save, offload");
    const std::string policies =
        "allowed: full, none, matmuls, block, minimal, minimal_with_quantization, "
        "minimal_with_context, minimal_flash, minimal_with_context_and_quantization, "
        "minimal_offloaded, save_dot_with_context_except_mlp, save_dot_except_mlp, "
        "save_dot_except_mlpwi, save_dot_except_logits, save_dot_except_logits_ffn1, "
        "save_qkv_proj, save_out_proj, qkv_proj_offloaded, proj";
    refused("everything", "s.yaml:5:19: unknown training.remat 'everything'; " + policies);
    refused("save_dot_except_mpl",
            "s.yaml:5:19: unknown training.remat 'save_dot_except_mpl'; did you mean "
            "'save_dot_except_mlp'? " +
                policies);
    refused("custom",
            "s.yaml:5:19: training.remat: 'custom' does not say what is kept; list tensors: {save: "
            "[...], offload: [...]}");
}

TEST_F(OffloadInput, PoliciesAndSynonymsOfMaxText) {
    const auto said = [&](const std::string& remat) {
        const Scenario scenario =
            load_scenario(write(std::string(kGood) + "training: {remat: " + remat + "}\n"));
        return to_string(scenario.step().plan.remat);
    };
    EXPECT_EQ(to_string(load_scenario(write(std::string(kGood))).step().plan.remat), "full");
    for (const auto& [name, remat] : workloads::remat_policies()) {
        EXPECT_EQ(said(std::string(name)), to_string(remat));
    }
    EXPECT_EQ(said("{save: [query_proj, kv_proj, mla_q, mla_kv, query_wa_proj, kv_wa_proj]}"),
              "{save: [qkv_proj]}");
    EXPECT_EQ(said("{offload: [mlpwi_0, mlpwi_1, moe_mlpwi_0, moe_mlpwi_1, mlpwo, moe_mlpwo]}"),
              "{offload: [mlp_gate_up, mlp_out]}");
    const Outcome outcome =
        podsim({"run", write(std::string(kGood) + "training: {remat: minimal_offloaded}\n")});
    EXPECT_THAT(outcome.out,
                HasSubstr("remat {offload: [qkv_proj, out_proj, mlp_gate_up, mlp_out]} "
                          "(the backward pass does not read mlp_out: not kept)"));
    EXPECT_THAT(podsim({"list", "remat"}).out, HasSubstr("\nqkv_proj_offloaded "));
}

}  // namespace
}  // namespace podsim::scenarios
