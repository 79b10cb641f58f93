#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#include "scenarios/src/scenario/load.h"
#include "tests/checkout.h"
#include "tests/scenarios/import/maxtext_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

TEST_F(MaxText, MeshesFillUp) {
    const std::string model = "model_name=llama3.1-8b";
    EXPECT_EQ(line({model}, "mesh"), "mesh: {fsdp: x y}");
    EXPECT_EQ(line({model, "compile_topology_num_slices=4"}, "mesh"),
              "mesh: {data: slice, fsdp: x y}");
    EXPECT_EQ(line({model, "ici_tensor_parallelism=8"}, "mesh"), "mesh: {fsdp: 32, tensor: 8}");
    EXPECT_EQ(line({model, "ici_tensor_parallelism=8", "compile_topology_num_slices=2"}, "mesh"),
              "mesh: {data: 2, fsdp: 32, tensor: 8}");
    EXPECT_EQ(line({model, "ici_fsdp_parallelism=1", "ici_data_parallelism=-1"}, "mesh"),
              "mesh: {data: x y}");
    EXPECT_EQ(line({model, "dcn_data_parallelism=1", "dcn_fsdp_parallelism=-1",
                    "compile_topology_num_slices=2"},
                   "mesh"),
              "mesh: {fsdp: slice x y}");
    EXPECT_EQ(line({model}, "mesh", "v5p-256"), "mesh: {fsdp: x y z}");
    // 128 devices on 64 chips: the data axis is that of a chip's two devices.
    EXPECT_EQ(
        line({model, "ici_fsdp_parallelism=64", "ici_data_parallelism=2"}, "mesh", "tpu7x-128"),
        "mesh: {fsdp: x y z}");
}

TEST_F(MaxText, BatchesCountDevices) {
    EXPECT_EQ(line({"model_name=llama3.1-8b", "per_device_batch_size=0.5"}, "batch"),
              "batch: {tokens: 262144, sequence: 2048}");  // 128 sequences
    EXPECT_EQ(line({"model_name=llama3.1-8b", "per_device_batch_size=2"}, "batch", "tpu7x-128"),
              "batch: {tokens: 524288, sequence: 2048}");  // 2 x 128 devices
    const std::vector<std::string> twice{"model_name=llama3.1-8b", "per_device_batch_size=1",
                                         "gradient_accumulation_steps=2"};
    EXPECT_EQ(line(twice, "batch"), "batch: {tokens: 1048576, sequence: 2048}");
    EXPECT_THAT(line(twice, "training"), HasSubstr("microbatches: 2"));
}

TEST_F(MaxText, EveryKeyIsAccountedFor) {
    const Outcome outcome = import({"model_name=llama3.1-8b", "profiler=xplane",
                                    "mu_dtype=bfloat16", "sa_q_layout=SEQ_MINOR"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, HasSubstr("#   model_name = llama3.1-8b\n"));
    EXPECT_THAT(outcome.out, HasSubstr("#   remat_policy = full (of the file)\n"));
    EXPECT_THAT(outcome.out, HasSubstr("#   profiler = xplane: of the profiler\n"));
    EXPECT_THAT(outcome.out, HasSubstr("#   sa_q_layout = SEQ_MINOR: of the kernel's layouts\n"));
    EXPECT_THAT(outcome.out, HasSubstr("moments: [bf16, fp32]"));
    EXPECT_EQ(outcome.err, "");
}

TEST_F(MaxText, WritesAScenarioThatRuns) {
    const Outcome outcome = import(
        {"model_name=llama3.1-8b", "--write", path("mine.yaml"), "--json", path("mine.json")});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, ::testing::StartsWith("used:\n"));
    const Scenario scenario = load_scenario(path("mine.yaml"));
    EXPECT_EQ(scenario.name, "mine");
    EXPECT_EQ(scenario.hardware.chips(), 256);
    EXPECT_EQ(podsim({"import", "hf", path("mine.json")}).status, 2);
    const Outcome hf = podsim({"import", "hf", path("mine.json"), "--write", path("x.yaml")});
    EXPECT_EQ(hf.status, 2);
    EXPECT_EQ(hf.err,
              "podsim import: --write: a config is no scenario; name it in one, model: "
              "{hf_config: config.json}, or write podsim init --model config.json\n");
}

TEST_F(MaxText, Errors) {
    refused({"per_device_batch_sise=4"},
            "per_device_batch_sise=4: MaxText has no key 'per_device_batch_sise' in that file; did "
            "you mean 'per_device_batch_size'?");
    // One run reports all wrong keys.
    refused({"per_device_batch_sise=4", "remat_polixy=full", "steps"},
            "per_device_batch_sise=4: MaxText has no key 'per_device_batch_sise' in that file; did "
            "you mean 'per_device_batch_size'?\n"
            "remat_polixy=full: MaxText has no key 'remat_polixy' in that file; did you mean "
            "'remat_policy'?\n"
            "steps: not key=value; write such as per_device_batch_size=4");
    // A key is not accepted because a substring of its name sounds harmless.
    EXPECT_THAT(import({"gradient_acc_steps=8"}).err,
                HasSubstr("gradient_acc_steps=8: MaxText has no key 'gradient_acc_steps' in that "
                          "file"));
    EXPECT_THAT(import({"fused_attn_backward=true"}).err,
                HasSubstr("MaxText has no key 'fused_attn_backward' in that file"));
    refused({"remat_policy"}, "remat_policy: not key=value; write such as per_device_batch_size=4");
    refused({"remat_policy=full", "remat_policy=none"},
            "remat_policy=none: 'remat_policy' is said twice; keep one");
    refused({"model_name=llama3.1-9b"},
            "model_name=llama3.1-9b: model_name: podsim has no model 'llama3.1-9b'; did you mean "
            "'llama3.1-8b'?");
    refused(
        {"ici_tensor_parallelism=-1"},
        "ici_tensor_parallelism=-1: ici_tensor_parallelism: -1, as ici_fsdp_parallelism is; one "
        "of them may fill up");
    refused({"ici_tensor_parallelism=3"},
            "ici_tensor_parallelism=3: ici_tensor_parallelism: the ici_*_parallelism multiply to 3 "
            "without "
            "the -1, but there are 256 devices in a slice; change one of them, or let one be -1");
    refused(
        {"ici_fsdp_parallelism=16"},
        "ici_fsdp_parallelism=16: ici_fsdp_parallelism: the ici_*_parallelism multiply to 16, but "
        "there are 256 devices in a slice; change one of them, or let one be -1");
    refused({"ici_sequence_parallelism=2"},
            "ici_sequence_parallelism=2: ici_sequence_parallelism: 2 ways of it are not modelled; "
            "write 1");
    refused({"per_device_batch_size=x"},
            "per_device_batch_size=x: per_device_batch_size: 'x' is no number; write a number");
    refused(
        {"scan_layers=maybe"},
        "scan_layers=maybe: scan_layers: 'maybe' is neither true nor false; write true or false");
    refused(
        {"quantization=int4"},
        "quantization=int4: quantization: 'int4' is not modelled; allowed: int8, fp8, fp8_full, "
        "or nothing");
    refused(
        {"global_parameter_scale=3"},
        "global_parameter_scale=3: global_parameter_scale: 3 is no power of two; write 1, 2, 4, "
        "...");
    refused(
        {},
        "compile_topology=v5p-100: compile_topology: no slice is called v5p-100: 100 is no number "
        "of cores (two a chip) that v5p offers; nearest: v5p-128 (4x4x4), or write a shape such "
        "as 16x20x28",
        "v5p-100");
    EXPECT_THAT(import({}, "").err, HasSubstr("base-2025.yml:"));
    EXPECT_THAT(podsim({"import", "maxtext", path("none.yml")}).err,
                HasSubstr("cannot read the file"));
    EXPECT_EQ(
        podsim({"import", "jaxtext"}).err,
        "podsim import: unknown format 'jaxtext'; did you mean 'maxtext'? allowed: maxtext, hf\n");
    EXPECT_EQ(podsim({"import"}).err, "podsim import: import what?; allowed: maxtext, hf\n");
    EXPECT_EQ(podsim({"import", "maxtext", write("- 1\n")}).status, 2);
}

TEST_F(MaxText, ReadsStandardInput) {
    const auto printed = [this](const std::string& what, const std::string& file) {
        const std::string command = program_path() + " import " + what + " < " + source_folder() +
                                    file + " > " + path("out");
        EXPECT_EQ(std::system(command.c_str()), 0);
        std::ifstream in(path("out"));
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string config = "/tests/workloads/configs/gpt-oss-20b.json";
    EXPECT_THAT(printed("hf -", config), HasSubstr("gpt_oss"));
    const std::string keys = " model_name=llama3.1-8b compile_topology=v5e-16";
    const std::string base = "/tests/scenarios/import/maxtext/base-2025.yml";
    const std::string from_file = printed("maxtext " + source_folder() + base + keys, base);
    EXPECT_EQ(printed("maxtext -" + keys, base), from_file);
    EXPECT_THAT(from_file, HasSubstr("hardware:"));
}

TEST_F(MaxText, ImportsHuggingFaceKeys) {
    const std::string file = source_folder() + "/tests/workloads/configs/gpt-oss-20b.json";
    const Outcome text = podsim({"import", "hf", file});
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("20914757184 parameters (20.91G), 4.187G of a token\nread:\n"));
    EXPECT_THAT(text.out,
                HasSubstr("  experts_per_token: of the router's choice, which is timed as even\n"));
    const auto json = nlohmann::json::parse(podsim({"import", "hf", file, "--json", "-"}).out);
    EXPECT_EQ(json["parameters"], 20914757184);
    EXPECT_EQ(json["family"], "gpt_oss");
    EXPECT_EQ(json["unknown"].size(), 0U);
    EXPECT_EQ(json["read"][0]["key"], "model_type");
}

}  // namespace
}  // namespace podsim::scenarios
