// The effect of a Hugging Face file's quantization_config on scenarios: the memory of inference,
// `show` and the report, refusals and warnings with their positions.
#include <gmock/gmock.h>
#include <string>
#include <variant>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StoredWeights : public CommandTest {
protected:
    /// Writes a model of experts: 2 layers, D 512, 8 experts of 1024, with its quantization_config
    /// in line 2.
    void config(const std::string& quantization) {
        write(
            "{\"model_type\": \"mixtral\", \"hidden_size\": 512, \"intermediate_size\": 1024, "
            "\"num_hidden_layers\": 2, \"num_attention_heads\": 8, \"num_key_value_heads\": 8, "
            "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"vocab_size\": 1024,\n"
            "\"quantization_config\": " +
                quantization + "}",
            "config.json");
    }
    std::string scenario(const std::string& rest, const std::string& name = "s.yaml") {
        return write("hardware: {chip: v5e, slice: 1x1}\nmodel: {hf_config: config.json}\n" + rest,
                     name);
    }
    std::string decode(const std::string& more = "") {
        return scenario("inference: {step: decode, batch: 1, context: 128" + more + "}\n");
    }
    static double parameters_held(const std::string& file) {
        const Scenario loaded = load_scenario(file);
        const auto steps = workloads::build_stages(loaded.step().model, loaded.step().plan);
        double bytes = 0;
        for (const workloads::Buffer& buffer : steps.programs.front().buffers) {
            bytes += buffer.memory_class == workloads::MemoryClass::parameters
                         ? buffer.bytes.value()
                         : 0;
        }
        return bytes;
    }
};

constexpr const char* kExpertsIn4Bits =
    R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": ["lm_head",
     "re:.*self_attn.*"], "config_groups": {"group_0": {"targets": ["Linear"], "weights":
     {"num_bits": 4, "strategy": "group", "group_size": 32}}}})";

// Experts 2 x 8 x 3 x 512 x 1024 of 4.5 bits; attention 2 x 4 x 512^2, routers 2 x 8 x 512, norms
// 5 x 512 and tables 2 x 1024 x 512 of 2 bytes.
TEST_F(StoredWeights, TakeTheirMemoryInInference) {
    constexpr double kExperts = 2.0 * 8 * 3 * 512 * 1024;
    constexpr double kOthers = 2.0 * 4 * 512 * 512 + 2 * 8 * 512 + 5 * 512 + 2 * 1024 * 512;
    config(kExpertsIn4Bits);
    EXPECT_NEAR(parameters_held(decode()), kExperts * 4.5 / 8 + kOthers * 2, 1);
    // The scenario's own value takes precedence; a file without the section has no effect.
    EXPECT_EQ(parameters_held(decode(", weights: bf16")), (kExperts + kOthers) * 2);
    EXPECT_EQ(parameters_held(decode(", weights: int8")), kExperts + kOthers);
    config("null");
    EXPECT_EQ(parameters_held(decode()), (kExperts + kOthers) * 2);
}

// One token of 2 reads 1 / 8 of a decode step's experts: bytes of HBM follow the stored width.
TEST_F(StoredWeights, AreReadAsTheyAreStored) {
    const auto read = [&](const std::string& file, const std::string& name) {
        const Scenario loaded = load_scenario(file);
        const auto steps = workloads::build_stages(loaded.step().model, loaded.step().plan);
        for (const workloads::Op& op : steps.programs.front().ops) {
            if (op.name == name) {
                return std::get<workloads::Compute>(op.work).hbm.value();
            }
        }
        ADD_FAILURE() << "no operation " << name;
        return 0.0;
    };
    config(kExpertsIn4Bits);
    const auto less = [&](const std::string& name) {
        return read(decode(", weights: bf16"), name) - read(decode(), name);
    };
    EXPECT_EQ(less("layer 0 forward qkv"), 0);
    EXPECT_EQ(less("unembedding forward logits"), 0);
    // Gate and up of the two experts that the token uses.
    EXPECT_NEAR(less("layer 0 forward experts gate_up"), 2 * 2 * 512 * 1024 * (2 - 4.5 / 8), 1e-3);
}

// `show` writes text that can be read again, and so leaves the key to the file.
TEST_F(StoredWeights, AreSaidInTheReport) {
    config(kExpertsIn4Bits);
    const std::string file = decode();
    const Outcome shown = podsim({"show", file});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_THAT(shown.out, Not(HasSubstr("\n  weights: bf16")));
    EXPECT_THAT(plain(podsim({"run", file}).out),
                HasSubstr("compressed-tensors, 4 bits in groups of 32"));
    const Outcome imported = podsim({"import", "hf", path("config.json")});
    EXPECT_THAT(imported.out,
                HasSubstr("weights are stored in 16.00 bits a parameter of layers, 4.50 of "
                          "experts, 16.00 of tables (compressed-tensors, 4 bits in groups of 32), "
                          "which inference without inference.weights takes"));
}

TEST_F(StoredWeights, ThatCannotBeSaidAreRefusedByNameInInference) {
    config(R"({"quant_method": "vptq"})");
    const Outcome refused = podsim({"run", decode()});
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(plain(refused.err),
              "s.yaml:3:12: inference.weights: quantization_config of config.json:2:1: what 'vptq' "
              "stores is not modelled; write inference.weights: bf16, fp32, int8, fp8, int4\n");
    EXPECT_EQ(podsim({"run", decode(", weights: int4")}).status, 0);
}

TEST_F(StoredWeights, AreWarnedOfInTraining) {
    const std::string training = "batch: {tokens: 4096, sequence: 1024}\n";
    for (const auto& [said, how] :
         {std::pair{kExpertsIn4Bits, "compressed-tensors, 4 bits in groups of 32"},
          std::pair{R"({"quant_method": "vptq"})", "what 'vptq' stores is not modelled"}}) {
        config(said);
        const Outcome run = podsim({"run", scenario(training)});
        EXPECT_EQ(run.status, 0) << run.err;
        EXPECT_THAT(plain(run.out + run.err),
                    HasSubstr(std::string("config.json:2:1: quantization_config (") + how +
                              ") is how weights are stored for inference; this step holds "
                              "parameters of 2 bytes: training.parameters and training.precision "
                              "say what it does"));
    }
    config("null");
    const Outcome run = podsim({"run", scenario(training)});
    EXPECT_THAT(run.out + run.err, Not(HasSubstr("quantization_config")));
}

}  // namespace
}  // namespace podsim::scenarios
