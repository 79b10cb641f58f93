// The limits of the values of each key, and the defaults of keys that are left out.
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "sim/base/error.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

struct Limit {
    std::string key;
    std::vector<std::string> taken;
    std::vector<std::string> refused;
    /// Words on the limit that only its refusal contains.
    std::string words;
};

class Limits : public CommandTest {
protected:
    /// Returns the message that refuses a value; empty if it is accepted.
    static std::string refusal(const std::string& file, const std::string& key,
                               const std::string& value) {
        try {
            load_scenario(file, std::vector<std::string>{key + '=' + value});
        } catch (const sim::InputError& error) {
            return error.what();
        }
        return {};
    }

    static void expect_limits(const std::string& file, const std::vector<Limit>& limits) {
        for (const Limit& limit : limits) {
            for (const std::string& value : limit.taken) {
                EXPECT_EQ(refusal(file, limit.key, value).find(limit.words), std::string::npos)
                    << limit.key << '=' << value;
            }
            for (const std::string& value : limit.refused) {
                EXPECT_NE(refusal(file, limit.key, value).find(limit.words), std::string::npos)
                    << limit.key << '=' << value << ": " << refusal(file, limit.key, value);
            }
        }
    }
};

TEST_F(Limits, OfTheMachine) {
    expect_limits(
        write(kGood),
        {{"hardware.slices", {"1", "4096"}, {"0", "4097"}, "is out of range; allowed: 1 to 4096"},
         {"hardware.message_cap",
          {"4 KiB"},
          {"4095 B"},
          "is below 4 KiB; write a size such as 4 MiB"},
         {"hardware.chip.ici_one_way", {"1 MB/s"}, {"999999 B/s"}, "is below 1 MB/s"},
         {"hardware.chip.hbm_bandwidth", {"1 MB/s"}, {"999999 B/s"}, "is below 1 MB/s"},
         {"hardware.chip.pcie_one_way", {"1 MB/s"}, {"999999 B/s"}, "is below 1 MB/s"},
         {"hardware.chip.dcn_per_host", {"1 MB/s"}, {"999999 B/s"}, "is below 1 MB/s"},
         {"hardware.chip.bf16_flops", {"1 GFLOP/s"}, {"0.999 GFLOP/s"}, "is below 1 GFLOP/s"},
         {"hardware.chip.int8_ops", {"1 GFLOP/s"}, {"0.999 GFLOP/s"}, "is below 1 GFLOP/s"},
         {"hardware.chip.fp8_flops", {"1 GFLOP/s"}, {"0.999 GFLOP/s"}, "is below 1 GFLOP/s"},
         {"hardware.chip.vpu_flops", {"1 GFLOP/s"}, {"0.999 GFLOP/s"}, "is below 1 GFLOP/s"},
         {"hardware.chip.ici_latency", {"0 us", "1 s"}, {"1.001 s"}, "is longer than 1 s"},
         {"hardware.chip.pcie_latency", {"0 us", "1 s"}, {"1.001 s"}, "is longer than 1 s"},
         {"hardware.chip.dcn_latency", {"0 us", "1 s"}, {"1.001 s"}, "is longer than 1 s"},
         {"hardware.chip.hbm_capacity", {"1 B"}, {"0 B"}, "is zero; write a size such as 96 GB"},
         {"hardware.chip.hbm_reserved",
          {"0 B", "95 GiB"},
          {"96 GiB", "97 GiB"},
          " leaves nothing of the 103.1 GB of a chip; write what the runtime keeps of them, such "
          "as 256 MiB"},
         {"hardware.chip.vmem", {"1 MiB"}, {"1048575 B"}, "is below 1 MiB"},
         {"hardware.chip.mxu",
          {"1", "65536"},
          {"0", "65537"},
          "is out of range; allowed: 1 to 65536"},
         {"hardware.slice",
          {"46x46x47"},
          {"47x47x46"},
          "47x47x46 has 101614 chips; at most 100000 are allowed"}});
    // 20 slices of 4800 chips.
    const std::string file = write(good_but("4x4x4", "20x20x12"));
    EXPECT_EQ(refusal(file, "hardware.slices", "20").find("slices have"), std::string::npos);
    EXPECT_NE(refusal(file, "hardware.slices", "21")
                  .find("21 slices have 100800 chips; at most 100000 are allowed"),
              std::string::npos);
}

TEST_F(Limits, OfThePlan) {
    const std::string file = write(kGood);
    const std::string whole = "is out of range; allowed: ";
    expect_limits(
        file,
        {{"training.microbatches", {"1", "1048576"}, {"0", "1048577"}, whole + "1 to 1048576"},
         {"training.chunks", {"1", "4096"}, {"0", "4097"}, whole + "1 to 4096"},
         {"overlap.reductions_in_flight", {"1", "4096"}, {"0", "4097"}, whole + "1 to 4096"},
         {"overlap.collectives_in_flight", {"1", "4096"}, {"0", "4097"}, whole + "1 to 4096"},
         {"overlap.fetch_layers", {"0", "4096"}, {"4097"}, whole + "0 to 4096"},
         {"overlap.prefetch_layers", {"0", "4096"}, {"4096.5"}, "allowed are 0 to 4096"},
         {"overlap.bucket", {"1 MB"}, {"999999 B"}, "is below 1 MB; write a size such as 100 MB"},
         {"training.zero", {"0", "1", "2"}, {"4"}, whole + "0 to 2"},
         {"training.zero", {"2"}, {"3"}, "ZeRO-3 is the mesh axis fsdp"},
         {"report.tokens", {"1"}, {"0"}, "the count is zero"},
         {"report.parameters", {"1"}, {"0"}, "the count is zero"},
         {"report.mfu", {"1 %", "100 %"}, {"0 %", "101 %"}, "is not above 0 % and at most 100 %"},
         {"evaluation",
          {"{tokens: 256Ki, steps: 1}", "{tokens: 256Ki, steps: 1048576}"},
          {"{tokens: 256Ki, steps: 0}", "{tokens: 256Ki, steps: 1048577}"},
          whole + "1 to 1048576"},
         {"evaluation",
          {"{tokens: 256Ki, steps: 1, train_steps: 1048576}"},
          {"{tokens: 256Ki, steps: 1, train_steps: 0}",
           "{tokens: 256Ki, steps: 1, train_steps: 1048577}"},
          whole + "1 to 1048576"}});
    const std::string experts = write(good_but("llama-3-8b", "mixtral-8x7b"), "experts.yaml");
    expect_limits(experts, {{"training.expert_imbalance",
                             {"{distribution: lognormal, spread: 1000 %}"},
                             {"{distribution: lognormal, spread: 1001 %}"},
                             "is above 1000 %"}});
}

TEST_F(Limits, OfPerturbations) {
    const std::string file = write(kGood);
    for (const std::string kind : {"slow_link, link: x", "slow_host", "slow_dcn"}) {
        const auto rate = [&](const std::string& value) {
            return refusal(file, "perturb", "[{kind: " + kind + ", rate: " + value + "}]");
        };
        EXPECT_EQ(rate("100 %"), "") << kind;
        EXPECT_EQ(rate("1 %"), "") << kind;
        EXPECT_NE(rate("0 %").find("is not above 0 % and at most 100 %"), std::string::npos)
            << kind;
        EXPECT_NE(rate("101 %").find("is not above 0 % and at most 100 %"), std::string::npos)
            << kind;
    }
    const auto at = [&](const std::string& where) {
        return refusal(file, "perturb", "[{kind: slow_chips, factor: 2, " + where + "}]");
    };
    for (const std::string axis : {"x", "y", "z"}) {
        EXPECT_EQ(at(axis + ": 0"), "");
        EXPECT_EQ(at(axis + ": 3"), "");
        EXPECT_NE(at(axis + ": 4").find("'4' is out of range; allowed: 0 to 3"), std::string::npos);
    }
    EXPECT_EQ(at("slice: 0"), "");
    EXPECT_NE(at("slice: 1").find("allowed: 0 to 0"), std::string::npos);
    const auto seed = [&](const std::string& value) {
        return refusal(file, "perturb", "[{kind: random_chips, spread: 5 %, seed: " + value + "}]");
    };
    EXPECT_EQ(seed("0"), "");
    EXPECT_EQ(seed("9007199254740992"), "");
    EXPECT_NE(seed("9007199254740994").find("out of range"), std::string::npos);
}

// A line of 4 has links from 0 to 3 upwards and from 3 to 0 downwards, none beyond its ends.
TEST_F(Limits, OfLinksThatThereAre) {
    const std::string file = write(
        "hardware: {chip: v5e, slice: 4x4}\nmodel: llama-3-8b\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n");
    const auto link = [&](const std::string& name, int x) {
        return refusal(
            file, "perturb",
            "[{kind: slow_link, rate: 50 %, link: " + name + ", x: " + std::to_string(x) + "}]");
    };
    for (const int x : {0, 1, 2}) {
        EXPECT_EQ(link("+x", x), "") << x;
        EXPECT_EQ(link("x", x), "") << x;
        EXPECT_EQ(link("-x", x + 1), "") << x;
    }
    EXPECT_NE(link("+x", 3).find("there is no link beyond its end; name x from 0 to 2"),
              std::string::npos);
    EXPECT_NE(link("x", 3).find("name x from 0 to 2"), std::string::npos);
    EXPECT_NE(link("-x", 0).find("name x from 1 to 3"), std::string::npos);
    EXPECT_NE(link("z", 0).find("axis z of this slice has no links"), std::string::npos);
    EXPECT_NE(link("w", 0).find("'w' is not a link"), std::string::npos);
    EXPECT_NE(link("+", 0).find("'+' is not a link"), std::string::npos);
}

TEST_F(Limits, OfPrograms) {
    const std::string file = write(
        "hardware: {chip: v5e, slice: 4x4}\nprogram: {stages: [{do: read-hbm, bytes: 1 GB}]}\n");
    const std::string whole = "is out of range; allowed: ";
    expect_limits(file, {{"program.pieces", {"1", "4096"}, {"0", "4097"}, whole + "1 to 4096"}});
    for (const std::string dimension : {"m", "k", "n"}) {
        const auto of = [&](const std::string& value) {
            std::string stage = "{do: matmul";
            for (const std::string one : {"m", "k", "n"}) {
                stage += ", " + one + ": " + (one == dimension ? value : "1");
            }
            return refusal(file, "program.stages", "[" + stage + "}]");
        };
        EXPECT_EQ(of("1"), "");
        EXPECT_EQ(of("1099511627776"), "");
        EXPECT_NE(of("0").find(whole + "1 to 1099511627776"), std::string::npos);
        EXPECT_NE(of("1099511627777").find(whole + "1 to 1099511627776"), std::string::npos);
    }
}

// Traffic of read-hbm and matmuls: bytes over all chips; the operands and the result at the sizes
// of their elements.
TEST_F(Limits, StagesHaveTheWorkThatTheySay) {
    const auto stage = [&](const std::string& text) {
        const Scenario scenario = load_scenario(
            write("hardware: {chip: v5p, slice: 4x4x4}\nprogram: {stages: [" + text + "]}\n"));
        return std::get<StageCompute>(scenario.program().stages.front().work);
    };
    EXPECT_EQ(stage("{do: read-hbm, bytes: 64 GB}").work.hbm, sim::Bytes(1e9));
    const StageCompute plain = stage("{do: matmul, m: 10, k: 20, n: 30}");
    EXPECT_EQ(plain.work.flops, sim::Flops(2 * 10 * 20 * 30));
    EXPECT_EQ(plain.work.hbm, sim::Bytes(2 * (10 * 20 + 20 * 30 + 10 * 30)));
    EXPECT_EQ(plain.work.matmuls.front().m, 10);
    EXPECT_EQ(plain.work.matmuls.front().k, 20);
    EXPECT_EQ(plain.work.matmuls.front().n, 30);
    EXPECT_EQ(plain.work.dtype, workloads::MatmulDtype::bf16);
    EXPECT_FALSE(plain.at.has_value());
    const StageCompute mixed =
        stage("{do: matmul, m: 10, k: 20, n: 30, weights: int8, activations: fp32, dtype: int8}");
    EXPECT_EQ(mixed.work.hbm, sim::Bytes(4 * 10 * 20 + 20 * 30 + 4 * 10 * 30));
    EXPECT_EQ(mixed.work.dtype, workloads::MatmulDtype::int8);
    // The gathered operand is split along m or n (each segment rereads the other operand), or along
    // k (each rereads the result).
    const auto gather = [&](const std::string& text) {
        return *stage("{do: matmul, m: 10, k: 20, n: 30, gather: {axes: x" + text + "}}").gather;
    };
    const StageGather rows = gather("");
    EXPECT_FALSE(rows.of_weights);
    EXPECT_FALSE(rows.inner);
    EXPECT_TRUE(rows.blocking);
    EXPECT_EQ(rows.bytes, sim::Bytes(2 * 10 * 20));
    EXPECT_EQ(rows.every_part, sim::Bytes(2 * 20 * 30));
    EXPECT_EQ(rows.later_parts, sim::Bytes(0));
    const StageGather columns = gather(", operand: weights");
    EXPECT_EQ(columns.bytes, sim::Bytes(2 * 20 * 30));
    EXPECT_EQ(columns.every_part, sim::Bytes(2 * 10 * 20));
    const StageGather inner = gather(", split: k, overlap: two-way");
    EXPECT_TRUE(inner.inner);
    EXPECT_FALSE(inner.blocking);
    EXPECT_EQ(inner.every_part, sim::Bytes(2 * 10 * 30));
    EXPECT_EQ(inner.later_parts, sim::Bytes(2 * 10 * 30));
}

TEST_F(Limits, WhatIsLeftOutIsTheDefault) {
    const Scenario scenario = load_scenario(write(kGood));
    const workloads::TrainingPlan& plan = scenario.step().plan;
    EXPECT_EQ(plan.batch.microbatches, 1);
    EXPECT_EQ(plan.pipeline.chunks, 1);
    EXPECT_EQ(plan.pipeline.schedule, workloads::PipelineSchedule::one_f_one_b);
    EXPECT_EQ(plan.experts.capacity_factor, 1);
    EXPECT_EQ(plan.experts.imbalance, 1);
    EXPECT_TRUE(plan.experts.loads.empty());
    EXPECT_EQ(plan.attention.placement, workloads::Placement::zig_zag);
    EXPECT_EQ(plan.precision.matmul, workloads::MatmulDtype::bf16);
    EXPECT_EQ(plan.precision.parameters, 2);
    EXPECT_EQ(plan.precision.gradients, 2);
    EXPECT_EQ(plan.precision.optimizer_moment, 4);
    EXPECT_EQ(plan.zero, 0);
    EXPECT_FALSE(plan.forward_only);
    EXPECT_FALSE(plan.layers_only);
    EXPECT_EQ(plan.overlap.weights, workloads::WeightGroups::layer);
    EXPECT_FALSE(plan.overlap.layer_loop);
    EXPECT_EQ(plan.overlap.collectives_in_flight, 0);
    EXPECT_EQ(plan.overlap.priority, workloads::kByNeed);
    EXPECT_FALSE(plan.overlap.tensor_steps.has_value());
    EXPECT_FALSE(plan.overlap.context_steps.has_value());
    const IdealHardware& hardware = scenario.hardware;
    EXPECT_EQ(plan.attention.vmem,
              hardware.chip.vmem.value / static_cast<double>(hardware.chip.cores.value));
    EXPECT_EQ(hardware.slices, 1);
    EXPECT_EQ(hardware.oversubscription, 1);
    EXPECT_TRUE(hardware.perturbations.empty());
    EXPECT_EQ(scenario.step().report.flop_rule, workloads::FlopRule::executed);
    EXPECT_FALSE(scenario.step().evaluation.has_value());
    const Scenario evaluated =
        load_scenario(write(std::string(kGood) + "evaluation: {tokens: 256Ki, steps: 7}\n"));
    EXPECT_EQ(evaluated.step().evaluation->steps, 7);
    EXPECT_EQ(evaluated.step().evaluation->train_steps, 1);
    EXPECT_EQ(evaluated.step().evaluation->tokens, 262144);
}

}  // namespace
}  // namespace podsim::scenarios
