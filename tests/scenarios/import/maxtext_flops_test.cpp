// FLOPs as MaxText counts them, by model and version.

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/import/maxtext_models.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/import/maxtext_fixture.h"
#include "workloads/bounds/step_flops.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using workloads::FlopRule;

/// TFLOP of a sequence of 8192 tokens, from calculate_tflops_training_per_device of MaxText for the
/// model's own config.
struct Row {
    std::string model;
    double maxtext;     ///< @e591f30 (2026-08-22)
    double since_2025;  ///< before 6288c23 (2026-04-11); 0: the model is younger
    double since_2024;  ///< before a4c0172 (2025-07-22)
    /// @e591f30 with mtp_num_layers=1; 0: podsim cannot express the layer
    double further;
};

std::vector<Row> rows() {
    return {{"deepseek2-16b", 148.318105633, 148.318105633, 176.149493711, 153.433411682},
            {"deepseek2-236b", 1519.63727561, 1519.63727561, 2014.41750811, 1544.53573789},
            {"deepseek3-671b", 2303.19876106, 2303.19876106, 2806.22533077, 2340.21386296},
            {"deepseek3-671b-2dfsdp", 2303.19876106, 2303.19876106, 2806.22533077, 2340.21386296},
            {"gemma-2b", 138.035953926, 138.035953926, 152.879360901, 144.27224644},
            {"gemma-7b", 465.834300408, 465.834300408, 512.013788774, 481.090024243},
            {"gemma2-27b", 1404.63791564, 1395.15462785, 1452.05435459, 1434.11857116},
            {"gemma2-2b", 147.263154291, 144.583094698, 160.663452254, 151.914603872},
            {"gemma2-9b", 514.851688415, 506.193034346, 558.144958759, 526.241941684},
            {"gemma3-12b", 606.930418532, 599.714873475, 736.604071133, 619.596277088},
            {"gemma3-27b", 1364.07302328, 1354.6928147, 1531.98906468, 1386.01601119},
            {"gemma3-4b", 200.424648868, 197.809013785, 246.771640959, 205.887847268},
            {"gemma4-26b", 214.006946071, 0, 0, 0},
            {"gemma4-31b", 1613.39587481, 0, 0, 0},
            {"gpt-oss-120b", 282.811114193, 282.354505482, 0, 290.67533353},
            {"gpt-oss-20b", 197.703115997, 197.39871019, 0, 205.553745789},
            {"gpt3-175b", 9055.17403944, 9055.17403944, 9530.16306264, 9149.18228361},
            {"gpt3-22b", 1197.36816265, 1197.36816265, 1316.11541845, 1222.10717427},
            {"gpt3-6b", 331.502755774, 331.502755774, 390.876383674, 338.305983971},
            {"kimi-k2-1t", 1808.94680954, 1808.94680954, 2060.46009439, 1837.65759217},
            {"llama2-13b", 714.145687142, 714.145687142, 796.609059226, 731.798002729},
            {"llama2-70b", 3641.27327355, 3641.27327355, 3905.15606422, 3686.62812819},
            {"llama2-7b", 377.527625318, 377.527625318, 430.304183452, 389.124037018},
            {"llama3-405b", 20676.2474409, 20676.2474409, 21507.4782314, 20839.5249176},
            {"llama3-70b", 3680.03105843, 3680.03105843, 3943.91384909, 3725.38591307},
            {"llama3-8b", 421.645529383, 421.645529383, 474.422087516, 434.015035195},
            {"llama3.1-405b", 20676.2474409, 20676.2474409, 21507.4782314, 20839.5249176},
            {"llama3.1-70b", 3680.03105843, 3680.03105843, 3943.91384909, 3725.38591307},
            {"llama3.1-8b", 421.645529383, 421.645529383, 474.422087516, 434.015035195},
            {"llama3.3-70b", 3680.03105843, 3680.03105843, 3943.91384909, 3725.38591307},
            {"llama4-17b-128e", 892.746533437, 892.746533437, 991.702579937, 910.30221226},
            {"llama4-17b-16e", 892.166712852, 892.166712852, 991.122759352, 909.694205952},
            {"mistral-7b", 402.266636943, 402.266636943, 455.043195077, 414.636142756},
            {"mixtral-8x22b", 2053.47325634, 2053.47325634, 2192.01172144, 2089.96571441},
            {"mixtral-8x7b", 679.39510675, 679.39510675, 732.171664884, 700.424877244},
            {"olmo3-32b", 1690.99590107, 0, 0, 1717.02340289},
            {"olmo3-7b", 391.273802367, 0, 0, 402.870214066},
            {"qwen2.5-1.5b", 93.1868316795, 93.1868316795, 110.504139817, 96.1052619571},
            {"qwen2.5-14b", 786.623260262, 786.623260262, 885.579306762, 802.213991547},
            {"qwen2.5-7b", 387.925741142, 387.925741142, 428.332793463, 400.823527932},
            {"qwen3-0.6b", 52.3835686257, 52.3835686257, 75.473312809, 53.9812964598},
            {"qwen3-1.7b", 107.653355274, 107.653355274, 130.743099458, 110.951890158},
            {"qwen3-14b", 770.098373591, 770.098373591, 852.561745674, 788.394934272},
            {"qwen3-235b-a22b", 1370.15469697, 1370.15469697, 1680.216976, 1384.40539845},
            {"qwen3-30b-a3b", 228.668353806, 228.668353806, 307.833191006, 233.113644958},
            {"qwen3-32b", 1783.16089963, 1783.16089963, 1994.26713217, 1810.42535203},
            {"qwen3-480b-a35b", 2004.49774427, 2004.49774427, 2311.26148841, 2036.08830247},
            {"qwen3-4b", 257.076341244, 257.076341244, 316.449969144, 263.686295912},
            {"qwen3-8b", 431.360745406, 431.360745406, 490.734373306, 442.493300638}};
}

class MaxTextFlops : public MaxText {
protected:
    Scenario imported(std::vector<std::string> keys) {
        keys.insert(keys.end(), {"--write", path("run.yaml")});
        const Outcome outcome = import(keys);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return load_scenario(path("run.yaml"));
    }
    static std::string read(const std::string& file) {
        std::ifstream text(source_folder() + "/tests/scenarios/import/maxtext/" + file);
        return {std::istreambuf_iterator<char>(text), {}};
    }
    Json result_of(const std::string& file) {
        const Outcome outcome = podsim({"run", file, "--no-explain", "--json", "-"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return Json::parse(outcome.out);
    }
};

/// True for blocks that calculate_tflops_training_per_device does not name, and so counts without
/// their windows.
bool counts_no_window(const std::string& model) {
    return model.starts_with("olmo3");
}

TEST_F(MaxTextFlops, AreThoseOfMaxTextsOwnFunction) {
    for (const Row& row : rows()) {
        SCOPED_TRACE(row.model);
        const bool unwindowed = counts_no_window(row.model);
        const auto tflop = [&](const workloads::ModelSpec& model, FlopRule rule) {
            return maxtext_flops_per_token(model, 8192, rule) * 8192 / 1e12;
        };
        workloads::ModelSpec model = imported({"model_name=" + row.model}).step().model;
        model.mtp_layers = 0;
        // For every model with windows it is known if MaxText's count includes them.
        const bool windows = row.model.starts_with("gemma2") || row.model.starts_with("gemma3") ||
                             row.model.starts_with("gemma4") || row.model.starts_with("gpt-oss");
        EXPECT_EQ(model.window > 0, windows || unwindowed);
        const double near = 1e-9;
        EXPECT_NEAR(tflop(model, unwindowed ? FlopRule::maxtext_unwindowed : FlopRule::maxtext) /
                        row.maxtext,
                    1, near);
        if (row.since_2025 > 0) {
            EXPECT_NEAR(tflop(model, FlopRule::maxtext_2025) / row.since_2025, 1, near);
        }
        if (row.since_2024 > 0) {
            const bool before = row.model.starts_with("gemma3");
            EXPECT_NEAR(
                tflop(model, before ? FlopRule::maxtext_2024_unwindowed : FlopRule::maxtext_2024) /
                    row.since_2024,
                1, near);
        }
        if (row.further > 0) {
            model.mtp_layers = 1;
            EXPECT_NEAR(
                tflop(model, unwindowed ? FlopRule::maxtext_unwindowed : FlopRule::maxtext) /
                    row.further,
                1, near);
        }
    }
    EXPECT_EQ(rows().size(), maxtext_models().size());
}

/// By hand: LLaMA 3-8B has 32 layers of 4096 (32 heads of 128, 8 of keys, an MLP of 14336) and
/// 128256 x 4096 of unembedding. The sequence has 8192 tokens; a pair of query and key costs
/// 12 x 128 in each head.
TEST_F(MaxTextFlops, ByHand) {
    const workloads::ModelSpec& model = workloads::find_model("llama-3-8b");
    const double matmuls =
        32 * (2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336) + 128256.0 * 4096;
    const double masked = 6 * matmuls + 12 * 128 * 32 * 32 * 4096.0;
    EXPECT_EQ(maxtext_flops_per_token(model, 8192, FlopRule::maxtext), masked);
    EXPECT_EQ(maxtext_flops_per_token(model, 8192, FlopRule::maxtext_2024),
              masked + 12 * 128 * 32 * 32 * 4096.0);
    // Three of four layers of OLMo 3 7B see 4096 of 8192 tokens: on average 3072 instead of 4096,
    // 2.6 % of the total.
    const workloads::ModelSpec olmo = imported({"model_name=olmo3-7b"}).step().model;
    const double without = maxtext_flops_per_token(olmo, 8192, FlopRule::maxtext_unwindowed);
    const double with = maxtext_flops_per_token(olmo, 8192, FlopRule::maxtext);
    EXPECT_EQ(without - with, 24 * 12 * 128 * 32 * 1024.0);
    EXPECT_NEAR(without / with, 1.026, 5e-4);
}

// The rule is that of the version whose keys the file has. A note names models whose windows
// MaxText leaves out.
TEST_F(MaxTextFlops, AnImportCountsAsItsVersionDoes) {
    const auto rule = [&](const std::string& model, const std::vector<std::string>& lines) {
        std::string base = read("base-2025.yml");
        for (const std::string& line : lines) {
            const bool without = line.front() == '-';
            const std::size_t at = base.find("\n" + line.substr(without ? 1 : 0) + ":");
            if (without) {
                base.erase(at, base.find('\n', at + 1) - at);
            } else {
                base += line + ": 0\n";
            }
        }
        const Outcome outcome = podsim({"import", "maxtext", write(base, "base.yml"),
                                        "model_name=" + model, "compile_topology=v6e-256"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        const bool said = outcome.out.find(
                              "MaxText's TFLOP/s and MFU of this model count "
                              "attention as if it had no windows") != std::string::npos;
        const std::string begin = "report: {flop_rule: ";
        const std::size_t at = outcome.out.find(begin) + begin.size();
        const std::string name = outcome.out.substr(at, outcome.out.find('}', at) - at);
        EXPECT_EQ(said, name.ends_with("unwindowed")) << name;
        return name;
    };
    const std::vector<std::string> newest{"weight_sparsity_m"};
    const std::vector<std::string> of_2024{"-use_qwix_quantization"};
    const std::vector<std::string> of_2023{"-use_qwix_quantization", "-ici_pipeline_parallelism"};
    for (const std::string& name :
         std::vector<std::string>{"llama3.1-8b", "gemma2-9b", "gemma3-12b", "gemma4-31b",
                                  "gpt-oss-20b", "olmo3-7b", "llama4-17b-16e", "mixtral-8x7b"}) {
        SCOPED_TRACE(name);
        const bool windows = !counts_no_window(name);
        const bool before = windows && !name.starts_with("gemma3");
        EXPECT_EQ(rule(name, newest), windows ? "maxtext" : "maxtext_unwindowed");
        EXPECT_EQ(rule(name, {}), windows ? "maxtext_2025" : "maxtext_unwindowed");
        EXPECT_EQ(rule(name, of_2024), before ? "maxtext_2024" : "maxtext_2024_unwindowed");
        EXPECT_EQ(rule(name, of_2023), "masked_attention");
    }
    // A file of a few keys counts as the newest version.
    const Outcome few = podsim({"import", "maxtext", write("model_name: llama3.1-8b\n", "f.yml"),
                                "compile_topology=v6e-256", "per_device_batch_size=1"});
    EXPECT_THAT(few.out, HasSubstr("\nreport: {flop_rule: maxtext}\n"));
}

// 256 sequences of 8192 tokens on 128 chips of two devices each: MaxText's FLOPs of a sequence over
// the step's time.
TEST_F(MaxTextFlops, TheNumberInTheLogIsInTextAndJson) {
    const Outcome outcome =
        import({"model_name=llama3.1-8b", "max_target_length=8192", "per_device_batch_size=1",
                "ici_fsdp_parallelism=-1", "--write", path("run.yaml")},
               "tpu7x-256");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Json json = result_of(path("run.yaml"));
    const double logged = 421.645529383 / json["step_time_s"].get<double>();
    EXPECT_EQ(json["flop_rule"], "maxtext_2025");
    EXPECT_NEAR(json["model_tflops_per_s_per_device"].get<double>() / logged, 1, 1e-9);
    const Outcome text = podsim({"run", path("run.yaml"), "--no-explain"});
    EXPECT_THAT(text.out,
                HasSubstr(fmt::format("\n  {:.1f} TFLOP/s/device by the rule maxtext_2025: as "
                                      "MaxText logged it from July 2025 to April 2026\n",
                                      logged)));
    EXPECT_THAT(text.out, HasSubstr("  MFU as MaxText counts "));
    // MFU is that number over the peak of a device.
    EXPECT_NEAR(json["mfu"].get<double>(), logged / 1153.5, 1e-9);
}

}  // namespace
}  // namespace podsim::scenarios
